# frozen_string_literal: true

# Checks first whether there is a cache of Larder's at the path, with the files that belong to it, and whether they can
# be changed. A file that is not Larder's is not checked further, and no proposed command changes it.

require_relative "../denial"
require_relative "../mount"
require_relative "../remedy"
require_relative "creation"

module Larder
  class Doctor
    # Checks of {Doctor}.
    module KindChecks
      # The first bytes of a cache, the offsets of its two superblocks, and the first bytes of a lock file.
      MAGIC = "LARDER\r\n"
      HEADS = [0, 4096].freeze
      LOCK_MAGIC = "LARDLOCK"
      STATISTICS_MAGIC = "LARDSTAT"
      # A cache whose creation was interrupted has only zeros in these bytes.
      HEAD = 8192
      ANOTHER_PATH = "# name another path: in the configuration, in LARDER_PATH, or as PATH of this command"
      private_constant :MAGIC, :HEADS, :LOCK_MAGIC, :STATISTICS_MAGIC, :HEAD, :ANOTHER_PATH

      private

      def kind
        foreign || strange_companion || :sound
      end

      # The mode and the owner of an immutable file cannot be changed, and it cannot be removed.
      def attributes
        return if kind_of(@path).nil? # another check has found why it is not there

        fixed = [*all_files.keys, File.dirname(@path)].select { |file| Denial.fixed?(file) }
        return if fixed.empty?

        ["#{names(fixed)} cannot be changed: the attributes that lsattr shows forbid it", Denial.unlocking(fixed)]
      end

      def foreign
        what = kind_of(@path)
        case what
        when nil then no_file
        when "file" then foreign_file
        when "directory" then ["it is a directory: name a file in it", ANOTHER_PATH]
        when "link" then ["it is a symbolic link, which Larder does not follow: name the file itself", ANOTHER_PATH]
        else ["it is a #{what}, and a cache is a regular file", ANOTHER_PATH]
        end
      end

      def no_file
        error = unseen
        start = error ? "it cannot be seen whether there is a file" : "there is no file"
        cause, fix = Creation.hindrance(@path, *@wanted_size)
        return ["#{start}. #{cause}", fix] if cause
        return ["#{start}: #{error.message}", ANOTHER_PATH] if error

        ["there is no file: the application creates it at its first use", ANOTHER_PATH]
      end

      # @return [SystemCallError, nil] the failure to look for the file
      def unseen
        File.lstat(@path)
        nil
      rescue Errno::ENOENT
        nil
      rescue SystemCallError => error
        error
      end

      # A user who may not read the file cannot find out what it is.
      def foreign_file
        return ["only #{Remedy.user(info.uid)} may read it", ask_owner] unless File.readable?(@path)
        return if larders?(@path)

        cache = @path.delete_suffix(".lock")
        if cache != @path && File.binread(@path, LOCK_MAGIC.bytesize) == LOCK_MAGIC
          ["it is the lock file of #{cache}: keep it, or that cache is replaced by an empty one",
           "larder doctor #{quoted(cache)}"]
        elsif zeros?(File.binread(@path, HEAD))
          ["there is no cache in it: an application that is configured with this path creates one", ANOTHER_PATH]
        else
          ["it is not a Larder cache, but a file of another program, which Larder does not change#{choice}",
           ANOTHER_PATH]
        end
      end

      # As the message of the engine has it; nothing of the system is to be removed.
      def choice
        "; choose another path or remove it" unless Obstacle.system?(@path)
      end

      # Finds another thing in the place of the lock file, or of another file that belongs to the cache.
      def strange_companion
        Companions.of(@path).each do |file, purpose|
          what = kind_of(file)
          what = "file of another program" if what == "file" && foreign_companion?(file)
          next if [nil, "file"].include?(what)

          return ["#{File.basename(file)} is a #{what}, where #{purpose} should be", removal(file, what)]
        end
        nil
      end

      # A file that this user may not read belongs to another one, which another check finds.
      def foreign_companion?(file)
        return false unless File.readable?(file)

        case File.extname(file)
        when ".lock" then !locking?(file) && !begins?(file, LOCK_MAGIC)
        when ".journal" then !larders?(file) && !zeros?(File.binread(file, HEAD))
        when ".stats" then !begins?(file, STATISTICS_MAGIC)
        when ".pending" then false # only its name counts
        else !File.empty?(file)
        end
      end

      # True for a lock file where this process has caches open: another descriptor of the file that is closed drops the
      # POSIX locks of the process.
      def locking?(file)
        (@store || @quick) && file.end_with?(".lock")
      end

      # True also for a file that is still empty.
      def begins?(file, magic)
        head = File.binread(file, magic.bytesize).to_s
        magic.start_with?(head) || zeros?(head)
      end

      def larders?(file)
        HEADS.any? { |at| File.binread(file, MAGIC.bytesize, at) == MAGIC }
      end

      def zeros?(bytes)
        bytes.to_s.delete("\0").empty?
      end

      # @return [String, nil] "file", "fifo", "socket", "link", ...; nil: nothing is there, or it cannot be seen
      def kind_of(file)
        type = File.lstat(file).ftype
        { "fifo" => "FIFO", "characterSpecial" => "device", "blockSpecial" => "device" }.fetch(type, type)
      rescue SystemCallError
        nil
      end

      def ask_owner
        Remedy.as_user(info.uid, "larder doctor #{quoted(@path)}")
      end

      # The command that frees the place of something. Docker makes a directory where a file that it mounts is missing.
      def removal(file, what)
        return Remedy.as_root("umount #{quoted(file)}") if what != "link" && Mount.point_of(file) == File.realpath(file)

        move = "mv #{quoted(file, aside(file))}"
        renames?(file) ? move : Remedy.as_root(move)
      end

      # In a sticky directory only the owner of a file renames it.
      def renames?(file)
        directory = File.stat(File.dirname(file))
        File.writable?(File.dirname(file)) &&
          (!directory.sticky? || directory.owned? || File.lstat(file).owned? || Process.euid.zero?)
      end

      # @return [String] an unused name in the same directory
      def aside(file)
        (1..).lazy.map { |number| "#{file}.other#{number if number > 1}" }.find { |name| kind_of(name).nil? }
      end
    end
  end
end
