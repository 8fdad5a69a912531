# frozen_string_literal: true

require "test_helper"
require "larder/bytes/denial"

module Larder
  # Denials of the kernel that owner and mode do not explain. This machine has neither SELinux nor AppArmor, so their
  # state is an argument.
  class DenialTest < ActiveSupport::TestCase
    include Processes
    include TemporaryDirectory

    setup { File.write(path_of, "") }

    test "SELinux is named with the domain, and the label that its policy lets that write" do
      { "httpd_t" => "chcon -R -t httpd_sys_rw_content_t #{directory}", "cron_t" => "restorecon -R #{directory}" }
        .each do |domain, command|
        [path_of, directory].each do |place|
          sentence = Denial.by_policy(place, context: "system_u:system_r:#{domain}:s0\0", enforcing: "1")
          assert_equal "SELinux denies it: owner and mode of #{place} allow it, the policy of #{domain} does not " \
                       "(ausearch -m avc): #{Remedy.as_root(command)}", sentence
        end
      end
    end

    test "in a container of SELinux the volume is to be mounted with :Z" do
      sentence = Denial.by_policy(path_of, context: "system_u:system_r:container_t:s0:c1,c2", enforcing: "1\n")
      assert_match(/SELinux denies it.*: mount the volume with :Z, as docker run --volume larder:#{directory}:Z/,
                   sentence)
    end

    test "SELinux that only logs denies nothing, nor do modules that are not there" do
      [["system_u:system_r:httpd_t:s0", "0"], ["system_u:system_r:httpd_t:s0", nil], [nil, nil], ["unconfined", nil],
       ["app (complain)", nil]].each do |context, enforcing|
        assert_nil Denial.by_policy(path_of, context: context, enforcing: enforcing), context
      end
    end

    test "AppArmor is named with the profile, and the rule that is missing" do
      script = "echo '#{directory}/** rwkl,' >> /etc/apparmor.d/local/puma && systemctl reload apparmor"
      assert_equal "AppArmor denies it: owner and mode of #{path_of} allow it, the profile puma does not: " +
                   Remedy.as_root("sh -c #{Shellwords.escape(script)}"),
                   Denial.by_policy(path_of, context: "puma (enforce)\n", enforcing: nil)
    end

    test "the attributes of a file are seen without opening it" do
      skip "no attributes here" unless system("chattr", "+i", path_of, err: File::NULL)
      seen = in_child { [Denial.fixed?(path_of), Dir.children("/proc/self/fd").size] }
      before = in_child { Dir.children("/proc/self/fd").size }
      assert_equal [true, before], seen
      assert_equal "#{path_of} has an attribute that forbids every change, also by root (lsattr -d shows i or a): " \
                   "#{Remedy.as_root("chattr -ia #{path_of}")}", Denial.by_attributes([directory, path_of])
    ensure
      system("chattr", "-i", path_of, err: File::NULL)
      assert_nil Denial.by_attributes([directory, path_of, path_of("missing")])
    end

    test "a mode allows what the digit of owner, group or others says" do
      skip "needs root" unless Process.euid.zero?
      File.chmod(0o755, directory)
      { [65_534, 0, 0o600] => true, [65_534, 0, 0o400] => false, [0, 65_534, 0o060] => true,
        [0, 65_534, 0o600] => false, [0, 0, 0o006] => true, [0, 0, 0o660] => false }.each do |(uid, gid, mode), allows|
        File.chown(uid, gid, path_of)
        File.chmod(mode, path_of)
        info = File.stat(path_of)
        assert_equal allows, as_nobody { Denial.mode_allows?(info, 6) }, format("%o of %d:%d", mode, uid, gid)
        assert Denial.mode_allows?(info, 6), "root"
      end
    end

    private

    def as_nobody
      in_child do
        Process::Sys.setgid(65_534)
        Process::Sys.setuid(65_534)
        yield
      end
    end
  end
end
