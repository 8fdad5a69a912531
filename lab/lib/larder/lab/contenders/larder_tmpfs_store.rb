# frozen_string_literal: true

require "digest"
require_relative "../guarded"
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

        # Another directory in place of the one it was given, the same for all processes that were given that one. Each
        # process has a warden, which removes it when that one is gone and the process has ended, however the lab ends.
        # A process that opens its file late would make the directory again.
        def dir
          @place || super
        end

        def load_code
          super
          given = dir
          place = File.join(Tmpfs.directory(size), "larder-lab-#{Digest::SHA256.hexdigest(given)[0, 16]}")
          watch(place, given)
          make(place)
          @place = place
        end

        def make(place)
          Dir.mkdir(place, 0o700)
        rescue Errno::EEXIST
          raise Unavailable, "#{place} is another user's: remove it" unless File.lstat(place).owned?
        end

        def watch(place, given)
          warden, @duty = Guarded.watch("follow", place, given, err: File::NULL) # the kernel closes the pipe
          Process.detach(warden)
        end
      end
    end
  end
end
