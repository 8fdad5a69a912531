# frozen_string_literal: true

require_relative "../job"
require_relative "../scratch"
require_relative "../tmpfs"
require_relative "larder_store"

module Larder
  module Lab
    module Contenders
      # Larder with its file in memory: no disk has a part in it, and a restart of the machine empties it.
      class LarderTmpfsStore < LarderStore
        named "larder-tmpfs", "Larder with its file on a tmpfs, in memory"
        only_on_request

        private

        # Another directory, which its own warden removes when this process ends, however it ends.
        def dir
          @scratch&.path || super
        end

        def load_code
          super
          @scratch = Scratch.new(Tmpfs.directory(size))
          Job.finally { @scratch.remove }
        end
      end
    end
  end
end
