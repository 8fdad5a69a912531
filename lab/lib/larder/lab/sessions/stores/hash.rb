# frozen_string_literal: true

require_relative "in_cache"

module Larder
  module Lab
    module Sessions
      module Stores
        # CacheStore over a Hash: what the middleware itself takes. Serves one process.
        class HashStore < InCache
          named "hash", "a Hash of the process: CacheStore over nothing, the floor"
          bundled_apart "sessions"
          private_to_process

          private

          def cache
            ["hash"]
          end
        end
      end
    end
  end
end
