# frozen_string_literal: true

# Checks first whether there is a cache of Larder's at the path, with a lock file beside it, and whether they can be
# changed. A file that is not Larder's is not checked further, and no proposed command changes it.

require_relative "../denial"
require_relative "../remedy"

module Larder
  class Doctor
    # Checks of {Doctor}.
    module KindChecks
      # The first bytes of a cache, the offsets of its two superblocks, and the first bytes of a lock file.
      MAGIC = "LARDER\r\n"
      HEADS = [0, 4096].freeze
      LOCK_MAGIC = "LARDLOCK"
      # A cache whose creation was interrupted has only zeros in these bytes.
      HEAD = 8192
      ANOTHER_PATH = "# name another path: in the configuration, in LARDER_PATH, or as PATH of this command"
      private_constant :MAGIC, :HEADS, :LOCK_MAGIC, :HEAD, :ANOTHER_PATH

      private

      def kind
        foreign || strange_lock || :sound
      end

      # The mode and the owner of an immutable file cannot be changed, and it cannot be removed.
      def attributes
        fixed = [*files, File.dirname(@path)].select { |file| Denial.fixed?(file) }
        return if fixed.empty?

        ["#{fixed.map { |file| File.basename(file) }.join(", ")} cannot be changed: the attributes that lsattr shows " \
         "forbid it", Denial.unlocking(fixed)]
      end

      def foreign
        what = kind_of(@path)
        case what
        when nil then ["there is no file: the application creates it at its first use", ANOTHER_PATH]
        when "file" then foreign_file
        when "directory" then ["it is a directory: name a file in it", ANOTHER_PATH]
        when "link" then ["it is a symbolic link, which Larder does not follow: name the file itself", ANOTHER_PATH]
        else ["it is a #{what}, and a cache is a regular file", ANOTHER_PATH]
        end
      end

      # A user who may not read the file cannot find out what it is.
      def foreign_file
        return ["only #{Remedy.user(info.uid)} may read it", ask_owner] unless File.readable?(@path)
        return if larders?

        cache = @path.delete_suffix(".lock")
        if cache != @path && File.binread(@path, LOCK_MAGIC.bytesize) == LOCK_MAGIC
          ["it is the lock file of #{cache}: keep it, or that cache is replaced by an empty one",
           "larder doctor #{quoted(cache)}"]
        elsif File.binread(@path, HEAD).to_s.delete("\0").empty?
          ["there is no cache in it: an application that is configured with this path creates one", ANOTHER_PATH]
        else
          ["it is not a Larder cache, but a file of another program, which Larder does not change", ANOTHER_PATH]
        end
      end

      def strange_lock
        what = kind_of(@lock)
        return if what.nil? || (what == "file" && (@store || lock_file?))

        what = "file of another program" if what == "file"
        ["#{File.basename(@lock)} is a #{what}, where the cache's lock file should be", "mv #{aside(@lock)}"]
      end

      # Never called within the application: closing the file would drop its POSIX locks, if it has any.
      def lock_file?
        return true unless File.readable?(@lock)

        head = File.binread(@lock, LOCK_MAGIC.bytesize).to_s
        LOCK_MAGIC.start_with?(head) || head.delete("\0").empty?
      end

      def larders?
        HEADS.any? { |at| File.binread(@path, MAGIC.bytesize, at) == MAGIC }
      end

      # @return [String, nil] "file", "fifo", "socket", "link", ...; nil: nothing is there
      def kind_of(file)
        type = File.lstat(file).ftype
        { "fifo" => "FIFO", "characterSpecial" => "device", "blockSpecial" => "device" }.fetch(type, type)
      rescue Errno::ENOENT
        nil
      end

      def ask_owner
        Remedy.as_user(info.uid, "larder doctor #{quoted(@path)}")
      end

      # Two arguments of mv: the file, and an unused name beside it.
      def aside(file)
        number = (1..).find { |each| !File.exist?("#{file}.other#{each if each > 1}") }
        "#{quoted(file)} #{quoted("#{file}.other#{number if number > 1}")}"
      end
    end
  end
end
