# frozen_string_literal: true

require_relative "in_cache"

module Larder
  module Lab
    module Sessions
      module Stores
        # CacheStore over files.
        class FileStore < InCache
          named "file", "files: CacheStore over :file_store, a file for each"
          bundled_apart "sessions"

          private

          def cache
            ["file_store", File.join(dir, "files")]
          end
        end
      end
    end
  end
end
