# frozen_string_literal: true

# Programs in containers that are made of namespaces, each with PIDs, mounts, IPC and a /dev/shm of its own. Needs root.

require "open3"
require "rbconfig"

# A container as the recipes of the guide to deployment configure it: the user 1000 without capabilities, a root that is
# read-only, and a volume.
class Container
  ROOT = File.expand_path("../..", __dir__)
  USER = 1000
  AS_USER = ["setpriv", "--reuid=#{USER}", "--regid=#{USER}", "--clear-groups", "--inh-caps=-all",
             "--bounding-set=-all", "--no-new-privs"].freeze
  # $1 is the volume. Exit status 77: the root of this machine cannot be mounted again, as in a chroot.
  FURNISH = <<~SH
    mount -t tmpfs -o size=64m none /dev/shm && mount --bind "$1" "$1" || exit 1
    mount -o remount,ro,bind / || exit 77
    shift
    exec "$@"
  SH

  # @return [String, nil] why there are none here
  def self.missing
    return "needs root" unless Process.uid.zero?
    return "needs setpriv" unless system("which", "setpriv", out: File::NULL)

    status = new("/var/tmp").run("exit!(0)").last
    "needs namespaces and a root that can be mounted again" unless status.success?
  end

  # @param volume [String] a directory
  def initialize(volume)
    @volume = volume
  end

  # @param script [String] in Ruby, with the gems of the bundle
  # @return [Array(String, Process::Status)] what it has printed
  def run(script, *arguments, env: {})
    Open3.capture2e({ "HOME" => "/", **env }, *command(script, arguments), chdir: ROOT)
  end

  # @param script [String]
  # @yield [Container::Running] that is killed, with all of its processes, when the block ends
  def start(script, *arguments, env: {})
    Open3.popen2e({ "HOME" => "/", **env }, *command(script, arguments), chdir: ROOT) do |input, output, process|
      yield Running.new(input, output, process)
    ensure
      Process.kill(:KILL, process.pid) if process.alive?
    end
  end

  # A script that answers lines.
  Running = Struct.new(:input, :output, :process) do
    # @return [String, nil] the next line; nil: it has ended
    def tell(line)
      input.puts(line)
      output.gets(chomp: true)
    end

    # As `docker kill` does.
    #
    # @return [void]
    def kill
      Process.kill(:KILL, process.pid)
      process.join
    end
  end

  private

  def command(script, arguments)
    ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child=KILL", "--mount-proc", "sh", "-c",
     FURNISH, "sh", @volume, *AS_USER, RbConfig.ruby, "-W0", "-I#{ROOT}/lib", "-rbundler/setup", "-e", script,
     *arguments]
  end
end
