# frozen_string_literal: true

<<<<<<< HEAD
require "digest"
require "rbconfig"
require_relative "../guarded"
=======
require_relative "../environment"
require_relative "../job"
require_relative "../scratch"
>>>>>>> 1e12492 (Let several processes share a place in a private SQL server or in memory)
require_relative "../tmpfs"
require_relative "larder_store"

module Larder
  module Lab
    module Contenders
      # Larder with its file in memory: no disk has a part in it, and a restart of the machine empties it.
      class LarderTmpfsStore < LarderStore
        named "larder-tmpfs", "Larder with its file on a tmpfs, in memory"
        only_on_request
        kept_in_memory

        private

<<<<<<< HEAD
        # Another directory in place of the one it was given, the same for all processes that were given that one. A
        # warden removes it as soon as that one is gone, however the lab ends.
=======
        # Its own, if that is in memory; else another one, which its warden removes when this process ends, however it
        # ends.
>>>>>>> 1e12492 (Let several processes share a place in a private SQL server or in memory)
        def dir
          @place || super
        end

        def load_code
          super
<<<<<<< HEAD
          given = dir
          place = File.join(Tmpfs.directory(size), "larder-lab-#{Digest::SHA256.hexdigest(given)[0, 16]}")
          make(place, given)
          @place = place
        end

        def make(place, given)
          Dir.mkdir(place, 0o700)
          Process.detach(Process.spawn({ "RUBYOPT" => nil }, RbConfig.ruby, "--disable=gems", Guarded::WARDEN, "follow",
                                       place, given, in: File::NULL, out: File::NULL, err: File::NULL, chdir: "/",
                                       pgroup: true))
        rescue Errno::EEXIST
          raise Unavailable, "#{place} is another user's: remove it" unless File.lstat(place).owned?
=======
          return if Environment.file_system(dir) == "tmpfs"

          @scratch = Scratch.new(Tmpfs.directory(size))
          Job.finally { @scratch.remove }
>>>>>>> 1e12492 (Let several processes share a place in a private SQL server or in memory)
        end
      end
    end
  end
end
