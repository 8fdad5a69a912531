# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Rails' null store: keeps nothing, so what it takes is the cost of the loop and of the cache API itself.
      class NullStore < Contender
        named "null", "ActiveSupport::Cache::NullStore: keeps nothing; the floor under every figure"
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
