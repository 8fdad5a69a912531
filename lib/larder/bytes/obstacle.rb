# frozen_string_literal: true

# Explains why this process cannot open a cache at a path, and names the command that fixes it. Called only after a
# failure. Finds the cause in the file system, not in the error.

require_relative "companions"
require_relative "denial"
require_relative "mount"
require_relative "remedy"

module Larder
  # @api private
  module Obstacle
    # The remedy if no command helps.
    ELSEWHERE = "name a file on a volume that can be written to (config.cache_store; LARDER_PATH if that has no path " \
                "and no persistent: false; file: of the sessions)"
    # As the guides and the default path name directories that have nothing but Larder's files.
    OWN = "larder"
    DEVICES = %w[characterSpecial blockSpecial].freeze
    # Directories of the system: the proposed commands never change their owner. SYSTEM_TREES: nor of anything below.
    SYSTEM = %w[/ /home /media /mnt /opt /srv /tmp /var].freeze
    SYSTEM_TREES = %w[/bin /boot /dev /etc /lib /lib64 /proc /root /run /sbin /sys /usr].freeze
    private_constant :ELSEWHERE, :OWN, :DEVICES, :SYSTEM, :SYSTEM_TREES

    module_function

    # @param path [String] absolute, or relative where the working directory was removed
    # @param error [OpenError, SystemCallError, nil] the failure
    # @param locked [Boolean] has the file a lock file of its own?
    # @return [String, nil] a sentence in UTF-8 that names who owns what, who runs this process, and a command; nil:
    #   nothing is seen that would keep it from the file, or another process removed it during the search
    def at(path, error = nil, locked: true)
      path = path.dup.force_encoding(Encoding::UTF_8)
      files = locked ? [path, "#{path}.lock"] : [path]
      sentence = misnamed(files) || unchangeable(files) || foreign(files) || opened_to_group(files) || closed(files) ||
                 full(path, error) || mounted_alone(files) || refused(path, error)
      sentence && Remedy.shown(sentence)
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
    def misnamed(files)
      path = files.first
      return "the working directory was removed: start the process in one that is there, or name an absolute path" \
        unless File.absolute_path?(path)
      return "Name a file by fewer characters: a name has 250 bytes at most, a path 4,087" if too_long?(files.last)
      return "#{path} is a directory: name a file in it, such as #{File.join(path, "cache.larder")}" \
        if kind_of(path) == "directory" && !Companions.name?(path)

      irregular = files.find { |file| ![nil, "file"].include?(kind_of(file)) }
      irregular && misplaced(irregular)
    end

    # Nothing of the system is moved: without /dev/null the machine fails.
    def misplaced(file)
      kind = kind_of(file)
      aside = "mv #{quoted(file)} #{quoted("#{file}.other")}, or " unless kind == "device" || in_system_tree?(file)
      "#{file} is a #{kind}, where a file of Larder's is to be: #{aside}name another path"
    end

    # @return [String, nil] as File::Stat#ftype, in words; nil: nothing is there, or it cannot be seen
    def kind_of(path)
      kind = File.lstat(path).ftype
      return "device" if DEVICES.include?(kind)

      kind == "link" ? "symbolic link" : kind
    rescue SystemCallError
      nil
    end

    def too_long?(path)
      File.lstat(path)
      false
    rescue SystemCallError => error
      error.is_a?(Errno::ENAMETOOLONG)
    end

    # Attributes forbid changes of owner and mode, too, so they come first.
    def unchangeable(files)
      there = files.select { |file| File.exist?(file) }
      Denial.by_attributes(there == files ? files : [*there, nearest_directory(files.first)])
    end

    def foreign(files)
      file = files.find { |one| File.exist?(one) && !usable?(one) }
      foreign_file(file, files) if file
    end

    # Kubernetes gives the files of a volume to fsGroup at each start of a pod, unless its policy is OnRootMismatch.
    def opened_to_group(files)
      files = [*files, *Companions.of(files.first).keys].uniq.select { |file| group_writable?(file) }
      return if files.empty? || !group_inherited?(files.first)

      "#{File.dirname(files.first)} passes on its group, as fsGroup of Kubernetes has it at each start of a pod: set " \
        "fsGroupChangePolicy: OnRootMismatch, and once do: chmod 600 #{files.map { |file| quoted(file) }.join(" ")}"
    end

    def group_writable?(file)
      File.file?(file) && File.stat(file).mode.anybits?(0o020)
    end

    # @param file [String] of an existing directory
    # @return [Boolean] true if new files get the directory's group
    def group_inherited?(file)
      File.stat(File.dirname(file)).setgid?
    end

    def closed(files)
      directory = nearest_directory(files.first)
      return dangling(directory) unless File.exist?(directory)
      return in_a_file(directory) unless File.directory?(directory)

      there = files.select { |file| File.exist?(file) }
      fixed = [*there, directory].find { |place| Mount.read_only?(place) }
      return read_only(fixed) if fixed

      closed = there.find { |file| !File.readable?(file) || !File.writable?(file) }
      return closed_file(closed) if closed

      open = File.writable?(directory) && File.executable?(directory)
      closed_directory(directory, files.first) unless there == files || open
    end

    # @param file [String] of an existing file
    # @return [Boolean] true if its owner does not keep this process from it: root uses also files that belong to the
    #   owner of their directory
    def usable?(file)
      owner = File.stat(file).uid
      owner == Process.euid || (Process.euid.zero? && owner == File.stat(File.dirname(file)).uid)
    end

    def foreign_file(file, files)
      owner = File.stat(file).uid
      what = "#{file} belongs to #{user(owner)}, and this process runs as #{user(Process.euid)}: "
      return "#{what}run it as #{user(owner)} (#{Remedy.as_user(owner, "...")})" if Process.euid.zero?

      others = files.select { |each| File.exist?(each) && File.stat(each).uid != Process.euid }
      what + Remedy.as_root("chown #{user(Process.euid)} #{others.map { |each| quoted(each) }.join(" ")}")
    end

    def dangling(link)
      target = File.readlink(link)
      start = "#{link} is a symbolic link to #{target}, which"
      return "#{start} leads back to it: rm #{quoted(link)} && mkdir #{quoted(link)}" if circular?(link)

      "#{start} is not there: mkdir -p #{quoted(File.absolute_path(target, File.dirname(link)))}"
    end

    def circular?(link)
      File.stat(link)
      false
    rescue SystemCallError => error
      error.is_a?(Errno::ELOOP)
    end

    def in_a_file(file)
      start = "#{file} is a #{kind_of(file)}, and no file can be in it: "
      return start + ELSEWHERE if in_system_tree?(file)

      "#{start}name one in a directory, such as #{File.join(File.dirname(file), "cache.larder")}"
    end

    # Its owner is this user, or root runs this process.
    def closed_file(file)
      info = File.stat(file)
      return denied(file) if Denial.mode_allows?(info, 6)
      return powerless(file, info) unless info.owned?

      "#{file} has mode #{mode_of(file)}, by which its owner may not read and write it: chmod 600 #{quoted(file)}"
    end

    def mode_of(place)
      format("%o", File.stat(place).mode & 0o777)
    end

    def read_only(place)
      "#{place} is on a read-only file system: #{ELSEWHERE}"
    end

    def closed_directory(directory, path)
      info = File.stat(directory)
      return denied(directory) if Denial.mode_allows?(info, 3)
      return powerless(directory, info) if Process.euid.zero?

      if info.owned?
        return "#{directory} has mode #{mode_of(directory)}, by which its owner may not write to it: " \
               "chmod u+wx #{quoted(directory)}"
      end

      may_not = "#{directory} belongs to #{user(info.uid)}, and #{user(Process.euid)}, who runs this process, may not "
      return "#{may_not}look into it: #{entering(directory, info)}" unless File.executable?(directory)

      "#{may_not}write to it: #{opening(directory, path)}"
    end

    # Root that used the cache first made the directory. Another one may have files of others.
    def entering(directory, info)
      own = [directory, File.dirname(directory)].any? { |each| File.basename(each) == OWN }
      return ELSEWHERE unless own && info.uid.zero? && !system?(directory)

      Remedy.as_root("chown -R #{user(Process.euid)} #{quoted(directory)}")
    end

    # Owner and mode allow it.
    def denied(place)
      sentence = Denial.by_policy(place)
      return sentence if sentence
      return "#{place} takes no files#{on_type(place)}: #{ELSEWHERE}" if File.directory?(place)

      "#{place} may not be opened#{on_type(place)}, though its mode allows it: #{ELSEWHERE}"
    end

    def on_type(place)
      type = Mount.type_of(place)
      ", as it is on #{type}" if type
    end

    # Root in a container often lacks the capability to pass over modes.
    def powerless(place, info)
      "#{place} belongs to #{user(info.uid)} and has mode #{mode_of(place)}, and root here may not pass over that " \
        "(it lacks CAP_DAC_OVERRIDE): run it as #{user(info.uid)} (#{Remedy.as_user(info.uid, "...")})"
    end

    # @param error [OpenError, nil] says whether a quota or the file system is full
    def full(path, error)
      message = error&.message.to_s
      used_up = [Errno::ENOSPC, Errno::EDQUOT].find { |kind| message.include?(kind.new.message) }
      return if used_up.nil? || message.include?("control group") # whose limit the engine has named

      place = Mount.point_of(nearest_directory(path)) || nearest_directory(path)
      what = used_up == Errno::EDQUOT ? "quota of #{user(Process.euid)} on" : "file system at"
      "The #{what} #{place} has too little room (df -h #{quoted(place)}; of files: df -i #{quoted(place)}): free " \
        "some, give a smaller size (size:, LARDER_SIZE), or #{ELSEWHERE}"
    end

    # Such a file can be used as it is, but not be replaced.
    def mounted_alone(files)
      file = files.find { |each| File.exist?(each) && Mount.point_of(each) == File.realpath(each) }
      return unless file

      "#{file} is a mount of a single file, which cannot be replaced. Mount its directory, as docker run --volume " \
        "larder:#{quoted(File.dirname(file))} ..., or remove the mount: #{Remedy.as_root("umount #{quoted(file)}")}"
    end

    # Root passes over owners and modes, and the kernel refused it all the same.
    def refused(path, error)
      message = error&.message.to_s
      return if [Errno::EACCES, Errno::EPERM].none? { |kind| message.include?(kind.new.message) }

      directory = nearest_directory(path)
      owner = File.stat(directory).uid
      return denied(directory) unless message.include?("set owner") && Process.euid.zero?

      "#{directory} belongs to #{user(owner)}, and root here may not give files to that user (it lacks CAP_CHOWN): " \
        "run it as #{user(owner)} (#{Remedy.as_user(owner, "...")})"
    end

    # The command by which this user may write there.
    def opening(directory, path)
      me = user(Process.euid)
      return Remedy.as_root("chown #{me} #{quoted(directory)}") unless system?(directory)

      wanted = File.dirname(path)
      return Remedy.as_root("install -d -o #{me} #{quoted(wanted)}") unless wanted == directory

      own = File.join(directory, "larder")
      "#{Remedy.as_root("install -d -o #{me} #{quoted(own)}")}, and name a file in it, such as " \
        "#{File.join(own, File.basename(path))}"
    end

    # @param directory [String] absolute
    # @return [Boolean] does it belong to the system rather than to an application?
    def system?(directory)
      SYSTEM.include?(directory) || File.dirname(directory) == "/var" || in_system_tree?(directory)
    end

    def in_system_tree?(path)
      SYSTEM_TREES.any? { |tree| path == tree || path.start_with?("#{tree}/") }
    end

    def nearest_directory(path)
      directory = File.dirname(path)
      directory = File.dirname(directory) until File.exist?(directory) || File.symlink?(directory)
      directory
    end

    def user(uid)
      Remedy.user(uid)
    end

    def quoted(path)
      Remedy.quoted(path)
    end

    private_class_method :misnamed, :misplaced, :opened_to_group, :group_writable?, :kind_of, :too_long?,
                         :unchangeable, :foreign, :closed, :foreign_file, :dangling, :circular?, :in_a_file,
                         :closed_file, :mode_of, :read_only, :closed_directory, :entering, :denied, :on_type,
                         :powerless, :full, :mounted_alone, :refused, :opening, :in_system_tree?, :nearest_directory,
                         :user, :quoted
  end
end
