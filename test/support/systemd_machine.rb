# frozen_string_literal: true

# Runs units by systemd itself, as the first process of PID, mount and control group namespaces. Needs root.

require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"

# A machine that boots, runs the units and ends. It has a /run, /srv, /dev/shm, /var/lib and /var/cache of its own, the
# checkout at {CHECKOUT}, and an application's directory /srv/shop/current. Nothing else of it may be written to.
module SystemdMachine
  PROGRAM = "/usr/lib/systemd/systemd"
  ROOT = File.expand_path("../..", __dir__)
  CHECKOUT = "/srv/larder"
  # Here each unit has a file of its name with what it has printed. All units may read that.
  OUTPUT = "/run/output"
  # Seconds, in case a unit does not end.
  PATIENCE = 60
  # Names of hierarchies of version 1; "systemd" has no controller.
  CONTROLLERS = %w[systemd memory pids].freeze
  # Where a service with ProtectHome=yes or PrivateTmp=yes has no Ruby.
  HIDDEN = %r{\A/(?:home|root|tmp)/}
  LAST = "larder-last.service"

  # $1 names the group, $2 has units, users and the output. systemd as PID 1 ignores signals, and is killed.
  BOOT = <<~SH.freeze
    set -e
    for kind in #{CONTROLLERS.join(" ")}; do
      mkdir /sys/fs/cgroup/$kind/$1
      echo $$ > /sys/fs/cgroup/$kind/$1/cgroup.procs
    done
    exec unshare --mount --pid --ipc --uts --cgroup --fork --kill-child=KILL --mount-proc sh -ec '
      for place in /run /srv /var/lib /var/cache /dev/shm; do mount -t tmpfs none $place; done
      mkdir -p /srv/shop/current #{CHECKOUT} #{OUTPUT}
      mount --bind #{ROOT} #{CHECKOUT}
      mount --bind $2/output #{OUTPUT}
      for file in passwd group; do mount --bind $2/$file /etc/$file; done
      umount -R /sys/fs/cgroup
      mount -t tmpfs none /sys/fs/cgroup
      for kind in #{CONTROLLERS.join(" ")}; do mkdir /sys/fs/cgroup/$kind; done
      mount -t cgroup -o none,name=systemd systemd /sys/fs/cgroup/systemd
      mount -t cgroup -o memory memory /sys/fs/cgroup/memory
      mount -t cgroup -o pids pids /sys/fs/cgroup/pids
      export container=larder SYSTEMD_UNIT_PATH=$2/units
      exec #{PROGRAM} --system --unit=#{LAST} --log-target=console --log-level=err --show-status=no' sh "$1" "$2"
  SH

  module_function

  # @return [String, nil] why units cannot be run here; nil: they can
  def missing
    return "needs root" unless Process.uid.zero?
    return "needs systemd" unless File.executable?(PROGRAM)
    return "needs a Ruby outside of /home, /root and /tmp" if HIDDEN.match?(RbConfig.ruby)

    lacking = CONTROLLERS.find { |name| !File.writable?("/sys/fs/cgroup/#{name}/cgroup.procs") }
    return "needs control groups of version 1 (#{lacking})" if lacking

    "needs namespaces" unless system("unshare", "--mount", "--pid", "--cgroup", "--fork", "true", err: File::NULL)
  end

  # @param units [Hash{String => String}] services by name, in the order in which they are to run
  # @param drop_ins [Hash{String => String}] lines of [Service] that are added to a unit
  # @param at_once [Boolean] true: a service runs while those after it are started
  # @param programs [Hash{String => String}] files that units find in {OUTPUT}
  # @return [Hash{String => Array<String>}] what each has printed, by lines
  def run(units, drop_ins, programs, at_once: false)
    Dir.mktmpdir("larder-systemd-", "/var/tmp") do |directory|
      furnish(directory)
      units.each_key.with_index do |name, index|
        write(directory, name, units[name], <<~INI)
          [Unit]
          DefaultDependencies=no
          #{"After=#{units.keys[index - 1]}.service" unless index.zero?}
          [Service]
          Type=#{at_once ? "exec" : "oneshot"}
          #{drop_ins[name]}
        INI
      end
      write_last(directory, units.keys)
      programs.each { |name, text| File.write(File.join(directory, "output", name), text) }
      boot(directory)
      units.to_h { |name, _| [name, lines(File.join(directory, "output", name))] }
    end
  end

  def furnish(directory)
    %w[units output].each { |name| Dir.mkdir(File.join(directory, name)) }
    File.chmod(0o755, directory, File.join(directory, "output"))
    File.write(File.join(directory, "passwd"), "#{File.read("/etc/passwd")}shop:x:4711:4711::/srv/shop:/bin/sh\n")
    File.write(File.join(directory, "group"), "#{File.read("/etc/group")}shop:x:4711:\n")
  end

  def write(directory, name, text, lines)
    File.write(File.join(directory, "units", "#{name}.service"), text)
    drop_in = File.join(directory, "units", "#{name}.service.d")
    Dir.mkdir(drop_in)
    File.write(File.join(drop_in, "test.conf"), <<~INI)
      #{lines}
      [Service]
      StandardOutput=append:#{OUTPUT}/#{name}
      StandardError=append:#{OUTPUT}/#{name}
      ExecStopPost=+/bin/touch #{OUTPUT}/#{name}.ended
    INI
  end

  # Ends the machine when all units have ended.
  def write_last(directory, names)
    services = names.map { |name| "#{name}.service" }.join(" ")
    ended = names.map { |name| "-e #{OUTPUT}/#{name}.ended" }.join(" -a ")
    File.write(File.join(directory, "units", LAST), <<~INI)
      [Unit]
      DefaultDependencies=no
      Wants=#{services}
      After=#{services}
      SuccessAction=exit-force
      [Service]
      Type=oneshot
      ExecStart=/bin/sh -c "until [ #{ended} ]; do sleep 0.05; done"
    INI
  end

  def boot(directory)
    group = "larder-test-#{Process.pid}-#{File.basename(directory)}"
    command = ["timeout", "--signal=KILL", PATIENCE.to_s, "sh", "-c", BOOT, "sh", group, directory]
    output, status = Open3.capture2e(*command)
    raise "systemd: #{status.inspect} #{output}" unless status.success?
  ensure
    CONTROLLERS.each { |name| remove(File.join("/sys/fs/cgroup", name, group)) }
  end

  # A group can be removed when the kernel has taken its last process away.
  def remove(group)
    groups = Dir.glob("#{group}/**/").sort.reverse
    100.times do
      groups.reject! { |path| removed?(path) }
      return if groups.empty?

      sleep(0.02)
    end
  end

  def removed?(path)
    Dir.rmdir(path)
    true
  rescue Errno::ENOENT
    true
  rescue Errno::EBUSY
    false
  end

  def lines(file)
    File.exist?(file) ? File.readlines(file, chomp: true) : []
  end

  private_class_method :furnish, :write, :write_last, :boot, :remove, :removed?, :lines
end
