# frozen_string_literal: true

# Explains why the kernel denies what owner and mode of a file allow: attributes, SELinux, AppArmor, a root without
# capabilities.

require_relative "mount"
require_relative "remedy"

module Larder
  # @api private
  module Denial
    # The security context of this process: SELinux's or AppArmor's.
    CONTEXT = "/proc/self/attr/current"
    # "1" where SELinux denies what its policy does not allow.
    ENFORCING = "/sys/fs/selinux/enforce"
    # The types of files that SELinux's policy lets processes of a domain write to.
    TYPES = { "httpd_t" => "httpd_sys_rw_content_t", "container_t" => "container_file_t",
              "init_t" => "var_lib_t", "unconfined_service_t" => "var_lib_t" }.freeze
    # Bit of CapEff in /proc/self/status, see capabilities(7).
    CAP_DAC_OVERRIDE = 1
    private_constant :CONTEXT, :ENFORCING, :TYPES, :CAP_DAC_OVERRIDE

    module_function

    # @param files [Array<String>] paths of files and directories
    # @return [String, nil] a sentence about those that chattr(1) has made immutable or append-only
    def by_attributes(files)
      fixed = files.select { |file| fixed?(file) }
      return if fixed.empty?

      "#{fixed.join(", ")} #{fixed.one? ? "has" : "have"} an attribute that forbids every change, also by root " \
        "(lsattr -d shows i or a): #{unlocking(fixed)}"
    end

    # @param file [String]
    # @return [Boolean] false also where that is not known. Opens nothing: closing a lock file could drop its locks
    def fixed?(file)
      _fixed?(file) || false
    end

    # @param files [Array<String>]
    # @return [String] the command that removes the attributes
    def unlocking(files)
      Remedy.as_root("chattr -ia #{files.map { |file| Remedy.quoted(file) }.join(" ")}")
    end

    # @param place [String] a file or directory whose owner and mode allow what is denied
    # @param context [String, nil] of this process
    # @param enforcing [String, nil] what ENFORCING holds
    # @return [String, nil] a sentence about the security module that denies it
    def by_policy(place, context: read(CONTEXT), enforcing: read(ENFORCING))
      context = context.to_s.delete("\0").strip
      directory = File.directory?(place) ? place : File.dirname(place)
      if enforcing.to_s.strip == "1"
        by_selinux(place, directory, context)
      elsif (profile = context[/\A(.+) \((?:enforce|kill)\)\z/, 1])
        by_apparmor(place, directory, profile)
      end
    end

    def by_selinux(place, directory, context)
      domain = context.split(":")[2] || context
      start = "SELinux denies it: owner and mode of #{place} allow it, the policy of #{domain} does not " \
              "(ausearch -m avc)"
      if domain == "container_t"
        return "#{start}: mount the volume with :Z, as docker run --volume larder:#{Remedy.quoted(directory)}:Z ..."
      end

      quoted = Remedy.quoted(directory)
      label = TYPES[domain] ? "chcon -R -t #{TYPES[domain]} #{quoted}" : "restorecon -R #{quoted}"
      "#{start}: #{Remedy.as_root(label)}"
    end

    def by_apparmor(place, directory, profile)
      rule = "#{directory}/** rwkl,"
      local = "/etc/apparmor.d/local/#{profile}"
      "AppArmor denies it: owner and mode of #{place} allow it, the profile #{profile} does not: " \
        "#{Remedy.as_root("sh -c #{Remedy.quoted("echo '#{rule}' >> #{local} && systemctl reload apparmor")}")}"
    end

    # @param info [File::Stat]
    # @param bits [Integer] of one digit of a mode: 4 to read, 2 to write, 1 to search
    # @return [Boolean] true if owner and mode let this process do that
    def mode_allows?(info, bits)
      return true if overrides_modes?

      shift = info.grpowned? ? 3 : 0
      shift = 6 if info.owned?
      (info.mode >> shift) & bits == bits
    end

    # @return [Boolean] true for root, unless it lacks the capability, as in many containers
    def overrides_modes?
      return false unless Process.euid.zero?

      effective = read("/proc/self/status")&.slice(/^CapEff:\s*(\h+)/, 1)
      effective.nil? || effective.hex[CAP_DAC_OVERRIDE] == 1
    end

    def read(file)
      File.read(file)
    rescue SystemCallError
      nil # the system has no such module
    end

    private_class_method :by_selinux, :by_apparmor, :read
  end
end
