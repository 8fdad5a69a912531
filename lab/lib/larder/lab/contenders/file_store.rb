# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Rails' file store: one file per key.
      class FileStore < Contender
        named "file", "ActiveSupport::Cache::FileStore: one file per key"

        private

        def open_store
          lookup(:file_store, File.join(dir, "files"))
        end
      end
    end
  end
end
