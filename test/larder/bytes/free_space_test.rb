# frozen_string_literal: true

require "test_helper"
require "larder/bytes/free_space"

module Larder
  class FreeSpaceTest < ActiveSupport::TestCase
    include TemporaryDirectory

    test "the room of a file system is that of df, in bytes" do
      with_df("echo Filesystem; echo '/dev/sda1 100 80 20 80% /'") { assert_equal 20 * 1024, FreeSpace.of("/") }
      assert_operator FreeSpace.of(directory), :>, 0
    end

    test "a file system may be mounted at a name of any bytes" do
      with_df("printf '/dev/sda1 100 80 20 80%% /sch\\377n\\n'") { assert_equal 20 * 1024, FreeSpace.of("/") }
    end

    test "the names of a file system and of its mount may have spaces" do
      with_df("echo '//nas/our files 2 100 80 20 80% /mnt/our 1 2 3 4% files'") do
        assert_equal 20 * 1024, FreeSpace.of("/")
      end
      with_df("echo 'none 0 0 7 - /mnt'") { assert_equal 7 * 1024, FreeSpace.of("/") }
    end

    test "the room is nil where df prints no number" do
      ["echo df: no such directory >&2; exit 1", "echo 1 2 3 -", "exit 0"].each do |script|
        with_df(script) { assert_nil FreeSpace.of("/") }
      end
    end

    test "the room is nil where df is missing" do
      path = ENV.fetch("PATH")
      ENV["PATH"] = path_of("nothing")
      assert_nil FreeSpace.of("/")
    ensure
      ENV["PATH"] = path
    end

    private

    def with_df(script)
      FileUtils.mkdir_p(path_of("bin"))
      File.write(path_of("bin/df"), "#!/bin/sh\n#{script}\n")
      FileUtils.chmod(0o755, path_of("bin/df"))
      path = ENV.fetch("PATH")
      ENV["PATH"] = "#{path_of("bin")}:#{path}"
      yield
    ensure
      ENV["PATH"] = path
    end
  end
end
