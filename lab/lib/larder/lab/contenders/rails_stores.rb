# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Rails' memory store: private to one process. Its default of 32 MB would evict during a published run.
      class MemoryStore < Contender
        named "memory", "ActiveSupport::Cache::MemoryStore: private to one process", shared: false

        private

        def open_store = lookup(:memory_store, { size: size })
      end

      # Rails' file store.
      class FileStore < Contender
        named "file", "ActiveSupport::Cache::FileStore: one file per key"

        private

        def open_store = lookup(:file_store, File.join(dir, "files"))
      end

      # Rails' null store: keeps nothing, so what it takes is what Rails' cache API in Ruby takes around a store. One
      # that answers in C goes around that, too: it may be faster.
      class NullStore < Contender
        named "null", "ActiveSupport::Cache::NullStore: keeps nothing; the API in Ruby", keeps_values: false,
                                                                                         shared: false

        private

        def open_store = lookup(:null_store)
      end
    end
  end
end
