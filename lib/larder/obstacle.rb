# frozen_string_literal: true

# Explains why this process cannot open a cache at a path, and names the command that fixes it. Reads the file system
# only after a failure.

require "etc"
require "shellwords"
require_relative "mount"

module Larder
  # @api private
  module Obstacle
    # The remedy if no command helps.
    ELSEWHERE = "name a file on a volume that can be written to (LARDER_PATH, or file: of the sessions)"
    # Directories of the system: the proposed commands never change their owner. SYSTEM_TREES: nor of anything below.
    SYSTEM = %w[/ /home /media /mnt /opt /srv /tmp /var].freeze
    SYSTEM_TREES = %w[/bin /boot /dev /etc /lib /lib64 /proc /root /run /sbin /sys /usr].freeze
    private_constant :ELSEWHERE, :SYSTEM, :SYSTEM_TREES

    module_function

    # @param path [String] absolute, or relative where the working directory was removed
    # @return [String, nil] a sentence in UTF-8 that names who owns what, who runs this process, and a command; nil:
    #   nothing is seen that would keep it from the file, or another process removed it during the search
    def at(path)
      path = path.dup.force_encoding(Encoding::UTF_8)
      sentence = misnamed(path) || foreign(path) || closed(path)
      sentence && shown(sentence)
    rescue SystemCallError
      nil # the failure that is to be explained is reported without this
    end

    # @param error [OpenError]
    # @param sentence [String, nil] of {at}
    # @return [OpenError] with the sentence after its message; `error` itself if there is none
    def explained(error, sentence)
      sentence ? error.exception("#{error.message}. #{sentence}") : error
    end

    # Paths that no command can make usable.
    def misnamed(path)
      return "the working directory was removed: start the process in one that is there, or name an absolute path" \
        unless File.absolute_path?(path)
      return "Name a file by fewer characters: a name has 250 bytes at most, a path 4,087" if too_long?(path)
      return "#{path} is a directory: name a file in it, such as #{File.join(path, "cache.larder")}" \
        if kind_of(path) == "directory"

      irregular = [path, "#{path}.lock"].find { |file| ![nil, "file"].include?(kind_of(file)) }
      irregular && "#{irregular} is a #{kind_of(irregular)}, where a file of Larder's is to be: " \
                   "mv #{quoted(irregular)} #{quoted("#{irregular}.other")}, or name another path"
    end

    # @return [String, nil] as File::Stat#ftype; nil: nothing is there, or it cannot be seen
    def kind_of(path)
      kind = File.lstat(path).ftype
      kind == "link" ? "symbolic link" : kind
    rescue SystemCallError
      nil
    end

    def too_long?(path)
      File.lstat("#{path}.lock")
      false
    rescue SystemCallError => error
      error.is_a?(Errno::ENAMETOOLONG)
    end

    def foreign(path)
      file = [path, "#{path}.lock"].find { |one| File.exist?(one) && !usable?(one) }
      foreign_file(file, path) if file
    end

    def closed(path)
      directory = nearest_directory(path)
      return dangling(directory) unless File.exist?(directory)
      return "#{directory} is not a directory: mv #{quoted(directory)} #{quoted("#{directory}.other")}" \
        unless File.directory?(directory)

      files = [path, "#{path}.lock"].select { |file| File.exist?(file) }
      fixed = [*files, directory].find { |place| Mount.read_only?(place) }
      return read_only(fixed) if fixed

      closed = files.find { |file| !File.readable?(file) || !File.writable?(file) }
      return closed_file(closed) if closed

      closed_directory(directory, path) unless files.size == 2 || File.writable?(directory)
    end

    # Root uses what belongs to the owner of the directory.
    def usable?(file)
      owner = File.stat(file).uid
      owner == Process.euid || (Process.euid.zero? && owner == File.stat(File.dirname(file)).uid)
    end

    def foreign_file(file, path)
      owner = File.stat(file).uid
      what = "#{file} belongs to #{user(owner)}, and this process runs as #{user(Process.euid)}: "
      return "#{what}run it as #{user(owner)} (sudo -u #{sudo_user(owner)} ...)" if Process.euid.zero?

      "#{what}sudo chown #{user(Process.euid)} #{quoted(path)} #{quoted("#{path}.lock")}"
    end

    def dangling(link)
      target = File.readlink(link)
      "#{link} is a symbolic link to #{target}, which is not there: " \
        "mkdir -p #{quoted(File.absolute_path(target, File.dirname(link)))}"
    end

    # One's own.
    def closed_file(file)
      "#{file} has mode #{mode_of(file)}, by which its owner may not read and write it: chmod 600 #{quoted(file)}"
    end

    def mode_of(place)
      format("%o", File.stat(place).mode & 0o777)
    end

    def read_only(place)
      "#{place} is on a read-only file system: #{ELSEWHERE}"
    end

    def closed_directory(directory, path)
      owner = File.stat(directory).uid
      if owner != Process.euid && !Process.euid.zero?
        may_not = "#{directory} belongs to #{user(owner)}, and #{user(Process.euid)}, who runs this process, may not "
        return "#{may_not}look into it: #{ELSEWHERE}" unless File.executable?(directory)

        "#{may_not}write to it: #{opening(directory, path)}"
      elsif owner == Process.euid && File.stat(directory).mode & 0o300 != 0o300 && !Process.euid.zero?
        "#{directory} has mode #{mode_of(directory)}, by which its owner may not write to it: " \
          "chmod u+wx #{quoted(directory)}"
      else
        type = Mount.type_of(directory)
        "#{directory} takes no files#{", as it is on #{type}" if type}: #{ELSEWHERE}"
      end
    end

    # The command by which this user may write there.
    def opening(directory, path)
      me = user(Process.euid)
      return "sudo chown #{me} #{quoted(directory)}" unless system?(directory)

      wanted = File.dirname(path)
      return "sudo install -d -o #{me} #{quoted(wanted)}" unless wanted == directory

      own = File.join(directory, "larder")
      "sudo install -d -o #{me} #{quoted(own)}, and name a file in it, such as #{File.join(own, File.basename(path))}"
    end

    # @param directory [String] absolute
    # @return [Boolean] does it belong to the system rather than to an application?
    def system?(directory)
      SYSTEM.include?(directory) || File.dirname(directory) == "/var" ||
        SYSTEM_TREES.any? { |tree| directory == tree || directory.start_with?("#{tree}/") }
    end

    # @param uid [Integer]
    # @return [String] as sudo takes it
    def sudo_user(uid)
      name = user(uid)
      name == uid.to_s ? "'##{uid}'" : name
    end

    def nearest_directory(path)
      directory = File.dirname(path)
      directory = File.dirname(directory) until File.exist?(directory) || File.symlink?(directory)
      directory
    end

    # @param uid [Integer]
    # @return [String] the user's name, or the number where it is nobody's, as in containers
    def user(uid)
      Etc.getpwuid(uid)&.name || uid.to_s
    rescue ArgumentError
      uid.to_s
    end

    def quoted(path)
      Shellwords.escape(shown(path))
    end

    # Paths have bytes of any kind.
    def shown(text)
      text.scrub { |bytes| bytes.unpack("C*").map { |byte| format("\\x%02X", byte) }.join }
    end

    private_class_method :misnamed, :kind_of, :too_long?, :foreign, :closed, :usable?, :foreign_file, :dangling,
                         :closed_file, :mode_of, :read_only, :closed_directory, :opening, :nearest_directory, :quoted,
                         :shown
  end
end
