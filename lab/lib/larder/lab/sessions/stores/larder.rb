# frozen_string_literal: true

module Larder
  module Lab
    module Sessions
      module Stores
        # Larder's sessions, in a file of their own.
        class LarderStore < Store
          named "larder", "Larder's sessions: one mapped file (:larder_store)"
          bundled_apart "sessions"

          # @return [Symbol]
          def name
            :larder_store
          end

          # @return [Hash{Symbol=>Object}]
          def options
            { file: File.join(dir, "sessions.larder"), ephemeral: true }
          end

          # @return [Array<String>]
          def definitions
            [File.expand_path("../definitions/larder_store.rb", __dir__)]
          end

          private

          def connect
            require "larder/sessions"
          rescue LoadError => error
            raise Unavailable, "larder cannot be loaded: bin/lab, or bundle exec rake compile (#{error.message})"
          end
        end
      end
    end
  end
end
