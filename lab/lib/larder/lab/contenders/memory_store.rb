# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Rails' memory store: private to one process. Its default of 32 MB would evict during a published run.
      class MemoryStore < Contender
        named "memory", "ActiveSupport::Cache::MemoryStore: private to one process"
        private_to_process

        private

        def open_store
          lookup(:memory_store, { size: size })
        end
      end
    end
  end
end
