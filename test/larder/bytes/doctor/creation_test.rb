# frozen_string_literal: true

require "test_helper"
require "support/command"
require "json"
require "larder/bytes/doctor"

module Larder
  class Doctor
    # The doctor where there is no file, and the application cannot create it. The command is the executable, as the
    # application's user.
    class CreationTest < ActiveSupport::TestCase
      include Processes
      include TemporaryDirectory
      include Command

      DAEMON = 1
      LOCATION = "storage/larder/production"
      FILE = "#{LOCATION}/cache.larder".freeze
      PRODUCTION = { "RAILS_ENV" => "production" }.freeze

      setup { FileUtils.mkdir_p(path_of(LOCATION)) }

      # @return [Array(String, String, Integer)] see {Command#larder}
      def as_daemon(*arguments, env: {})
        skip "needs root" unless Process.euid.zero?
        ["", "storage", "storage/larder"].each { |each| File.chmod(0o755, path_of(each)) }
        in_child do
          Process::UID.change_privilege(DAEMON)
          larder("doctor", *arguments, env: env)
        end
      end

      # The one finding of what was printed in JSON.
      def finding_of(printed)
        out, err, code = printed
        assert_equal ["", 1], [err, code]
        report = JSON.parse(out)
        assert_equal path_of(FILE), report["file"]
        assert_equal [false, ["kind"]], [report["sound"], report["findings"].map { |each| each["check"] }]
        report["findings"].first
      end

      # With mounts of its own, which the script makes before it runs the command.
      def with_mounts(script, *arguments, env: {})
        out, err, status = Open3.capture3({ **PLAIN, **env }, "unshare", "--mount", "sh", "-ec",
                                          "#{script}; exec \"$@\"", path_of(LOCATION), PROGRAM, "doctor", *arguments,
                                          chdir: directory)
        skip "no mounts of its own: #{err}" if err.start_with?("unshare:") || err.include?("mount:")
        [out, err, status.exitstatus]
      end

      test "a directory of another user is found, however the file is named" do
        [[[], PRODUCTION], [[], { "LARDER_PATH" => path_of(FILE) }], [[path_of(FILE)], {}]].each do |words, env|
          found = finding_of(as_daemon(*words, "--json", env: env))
          assert_match(/\Athere is no file\. #{path_of(LOCATION)} belongs to root, and daemon, who runs this process, /,
                       found["what"])
          assert_match(/may not write to it: .*chown daemon #{path_of(LOCATION)}\z/, found["what"])
          assert_equal "# do what the last sentence says", found["fix"]
        end
      end

      test "people read the same, and nothing of an environment that is named already" do
        out, err, code = as_daemon(env: { **PRODUCTION, "LARDER_PATH" => path_of(FILE) })
        assert_equal ["", 1], [err, code]
        assert_match(/ fix there is no file\. .*chown daemon #{path_of(LOCATION)} .*1 problem\./, out.gsub(/\s+/, " "))
        assert_no_match(/RAILS_ENV/, out)
      end

      test "a directory that may not be searched is found" do
        File.chmod(0o700, path_of(LOCATION))
        found = finding_of(as_daemon("--json", env: PRODUCTION))
        assert_match(/\Ait cannot be seen whether there is a file\. .* may not look into it: /, found["what"])
      end

      test "a read-only file system is found" do
        found = finding_of(with_mounts("mount -t tmpfs -o ro tmpfs \"$0\"", "--json", env: PRODUCTION))
        assert_match(/\Athere is no file\. #{path_of(LOCATION)} is on a read-only file system: name a file on a volume/,
                     found["what"])
      end

      test "a full disk is found, by the size that is configured" do
        full = "mount -t tmpfs -o size=8m tmpfs \"$0\"; head -c 6M /dev/zero > \"$0/other\""
        found = finding_of(with_mounts(full, "--json", env: { **PRODUCTION, "LARDER_SIZE" => "4MB" }))
        assert_equal "there is no file. #{path_of(FILE)} takes 4.0 MiB, and 2.0 MiB are free", found["what"]
        assert_equal "df -h #{path_of(LOCATION)}; df -i #{path_of(LOCATION)}", found["fix"]
        found = finding_of(with_mounts(full.sub("6M", "8M"), "--json", env: PRODUCTION))
        assert_match(/ takes 1\.0 MiB, and 0\.0 MiB are free\z/, found["what"])
      end

      test "where nothing keeps it from being created, it is said that there is none" do
        message = /\Alarder: there is no file #{FILE} .*its application creates it at its first use$/
        assert_equal 1, refused(message, "doctor", env: PRODUCTION)
        skip "needs root" unless Process.euid.zero?
        File.chown(DAEMON, nil, path_of(LOCATION))
        assert_equal 1, refused(message, "doctor", env: PRODUCTION)
      end

      test "outside of an application's directory, the directory is not to be given away" do
        FileUtils.rm_rf(path_of("storage"))
        skip "needs root" unless Process.euid.zero?
        File.chmod(0o755, directory)
        err = in_child do
          Process::UID.change_privilege(DAEMON)
          larder("doctor", env: PRODUCTION)[1]
        end
        assert_match(/there is no file .* Name the cache's file, or go to the application's directory/, err)
      end
    end
  end
end
