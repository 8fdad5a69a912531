# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Rails' null store: keeps nothing, so what it takes is what Rails' cache API in Ruby takes around a store. One
      # that answers in C goes around that, too: it may be faster.
      class NullStore < Contender
        named "null", "ActiveSupport::Cache::NullStore: keeps nothing; the API in Ruby"
        keeps_nothing
        private_to_process

        private

        def open_store
          lookup(:null_store)
        end
      end
    end
  end
end
