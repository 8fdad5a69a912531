# frozen_string_literal: true

# Owns what is asked before all else: whether there is a cache of Larder's at the path, with a lock file beside it, and
# whether they can be changed at all. What is not Larder's is not looked at further, and no command changes it.

require "open3"

module Larder
  class Doctor
    # Checks of {Doctor}.
    module KindChecks
      # How a cache begins, where its copy does, and how a lock file begins.
      MAGIC = "LARDER\r\n"
      HEADS = [0, 4096].freeze
      LOCK_MAGIC = "LARDLOCK"
      # What a cache that was not finished has nothing but zeros in.
      HEAD = 8192
      # chattr(1): neither written, renamed nor removed; only appended to.
      FIXED = "ia"
      ANOTHER_PATH = "# name another path: in the configuration, in LARDER_PATH, or as PATH of this command"
      private_constant :MAGIC, :HEADS, :LOCK_MAGIC, :HEAD, :FIXED, :ANOTHER_PATH

      private

      def kind
        foreign || strange_lock || :sound
      end

      # Of an immutable file neither the mode nor the owner can be changed, nor can it be removed.
      def attributes
        fixed = [*files, File.dirname(@path)].select { |file| fixed?(file) }
        return if fixed.empty?

        ["#{fixed.map { |file| File.basename(file) }.join(", ")} cannot be changed: the attributes that lsattr shows " \
         "forbid it", "sudo chattr -#{FIXED} #{fixed.map { |file| quoted(file) }.join(" ")}"]
      end

      def foreign
        what = kind_of(@path)
        case what
        when nil then ["there is no file: the application makes it when it first uses it", ANOTHER_PATH]
        when "file" then foreign_file
        when "directory" then ["it is a directory: name a file in it", ANOTHER_PATH]
        when "link" then ["it is a symbolic link, which Larder does not follow: name the file itself", ANOTHER_PATH]
        else ["it is a #{what}, and a cache is a regular file", ANOTHER_PATH]
        end
      end

      # Who may not read it cannot know whose it is.
      def foreign_file
        return ["#{Obstacle.user(info.uid)} alone may read it", ask_owner] unless File.readable?(@path)
        return if larders?

        cache = @path.delete_suffix(".lock")
        if cache != @path && File.binread(@path, LOCK_MAGIC.bytesize) == LOCK_MAGIC
          ["it is the lock file of #{cache}, without which that is replaced by an empty cache: leave it there",
           "larder doctor #{quoted(cache)}"]
        elsif File.binread(@path, HEAD).to_s.delete("\0").empty?
          ["there is no cache in it: an application that is configured with this path makes one", ANOTHER_PATH]
        else
          ["it is not a Larder cache, but a file of something else, which is left as it is", ANOTHER_PATH]
        end
      end

      def strange_lock
        what = kind_of(@lock)
        return if what.nil? || (what == "file" && (@store || lock_file?))

        what = "file of something else" if what == "file"
        ["#{File.basename(@lock)} is a #{what}, where the cache's lock file should be", "mv #{aside(@lock)}"]
      end

      # Never asked within the application: where POSIX locks are used, closing the file would end them.
      def lock_file?
        return true unless File.readable?(@lock)

        head = File.binread(@lock, LOCK_MAGIC.bytesize).to_s
        LOCK_MAGIC.start_with?(head) || head.delete("\0").empty?
      end

      def larders?
        HEADS.any? { |at| File.binread(@path, MAGIC.bytesize, at) == MAGIC }
      end

      # @return [String, nil] "file", "fifo", "socket", "link", ...; nil: there is nothing
      def kind_of(file)
        type = File.lstat(file).ftype
        { "fifo" => "FIFO", "characterSpecial" => "device", "blockSpecial" => "device" }.fetch(type, type)
      rescue Errno::ENOENT
        nil
      end

      # Another process asks: one that opens and closes the lock file may lose its locks.
      def fixed?(file)
        shown, = Open3.capture2("lsattr", "-d", "--", file, err: File::NULL)
        shown[/\A\S+/].to_s.count(FIXED).positive?
      rescue SystemCallError # no lsattr
        false
      end

      def ask_owner
        "sudo -u #{Obstacle.sudo_user(info.uid)} larder doctor #{quoted(@path)}"
      end

      # Two words for mv: the file, and a name beside it that nothing has.
      def aside(file)
        number = (1..).find { |each| !File.exist?("#{file}.other#{each if each > 1}") }
        "#{quoted(file)} #{quoted("#{file}.other#{number if number > 1}")}"
      end
    end
  end
end
