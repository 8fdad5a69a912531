# frozen_string_literal: true

require "support/environment"
require "test_helper"
require "larder/bytes/remedy"

module Larder
  # The commands of messages, on machines with and without sudo, for root and others.
  class RemedyTest < ActiveSupport::TestCase
    include Environment
    include Processes
    include TemporaryDirectory

    NOBODY = 65_534
    DAEMON = 1

    test "root needs no sudo, and without it the command of others follows \"run as root\"" do
      skip "needs root" unless Process.euid.zero?
      assert_equal "chown a b", with_programs("sudo") { Remedy.as_root("chown a b") }
      assert_equal "sudo chown a b", as_nobody { with_programs("sudo") { Remedy.as_root("chown a b") } }
      assert_equal "run as root: chown a b", as_nobody { with_programs { Remedy.as_root("chown a b") } }
    end

    test "a command of another user is written for the program that is there" do
      skip "needs root" unless Process.euid.zero?
      { ["sudo", "runuser"] => ["sudo -u daemon ls", "sudo -u '#12345' ls"],
        ["runuser"] => ["runuser -u daemon -- ls", "setpriv --reuid=12345 --regid=12345 --clear-groups ls"],
        [] => ["su -s /bin/sh daemon -c ls", "setpriv --reuid=12345 --regid=12345 --clear-groups ls"] }
        .each do |programs, commands|
        found = with_programs(*programs) { [DAEMON, 12_345].map { |uid| Remedy.as_user(uid, "ls") } }
        assert_equal commands, found, programs
      end
      assert_equal "run as root: ls -l", as_nobody { with_programs { Remedy.as_user(0, "ls -l") } }
    end

    test "the commands of another user run as that user" do
      skip "needs root" unless Process.euid.zero?
      [[], ["runuser"]].product([DAEMON, 12_345]).each do |programs, uid|
        command = with_programs(*programs) { Remedy.as_user(uid, "sh -c 'id -u; exit 3'") }
        output, status = Open3.capture2("sh", "-c", command)
        assert_equal ["#{uid}\n", 3], [output, status.exitstatus], command
      end
    end

    test "a program is one that may be executed" do
      File.write(path_of("tool"), "", perm: 0o644)
      with_environment("PATH" => directory) do
        assert_not Remedy.command?("tool")
        File.chmod(0o755, path_of("tool"))
        assert Remedy.command?("tool")
      end
      with_environment("PATH" => nil) { assert_not Remedy.command?("sh") }
    end

    private

    # @return [Object] the block's, where PATH has only these programs
    def with_programs(*names, &block)
      place = Dir.mktmpdir(nil, directory)
      File.chmod(0o755, place)
      names.each { |name| File.write(File.join(place, name), "", perm: 0o755) }
      with_environment("PATH" => place, &block)
    end

    # Their PATH is prepared by root.
    def as_nobody
      File.chmod(0o777, directory)
      in_child do
        Process::UID.change_privilege(NOBODY)
        yield
      end
    end
  end
end
