# frozen_string_literal: true

require "test_helper"
require "open3"

module House
  # The commands of bin/: what they say, and how they end.
  class CommandsTest < ActiveSupport::TestCase
    include TemporaryDirectory

    ROOT = File.expand_path("../..", __dir__)

    PROGRAMS = Dir.glob("{bin,bench}/*", base: ROOT).select do |path|
      File.file?(File.join(ROOT, path)) && File.executable?(File.join(ROOT, path))
    end

    test "there are programs" do
      assert_empty ["bin/setup", "bin/test", "bin/lab", "bench/profile"] - PROGRAMS
    end

    PROGRAMS.each do |command|
      test "#{command} explains itself" do
        output, status = run_command(command, "--help")
        assert_predicate status, :success?, output
        assert_match(/\Ausage: #{Regexp.escape(command)}/i, output)
      end

      test "#{command} refuses an option that it does not know with exit code 2" do
        output, status = run_command(command, "--nonsense")
        assert_equal 2, status.exitstatus, output
        assert_includes output, "--nonsense"
      end
    end

    ["bin/setup", "bin/lab", ".ci/run"].each do |script|
      test "#{script} is a script that bash can read" do
        output, status = run_command("bash", "-n", script)
        assert_predicate status, :success?, output
      end
    end

    test "bin/test refuses what it does not know, and says what it knows" do
      assert_refused(/unknown suite nonsense; known: build, engine/, "--only", "nonsense")
      assert_refused(%r{no such test file: test/absent_test\.rb}, "--no-setup", "test/absent_test.rb")
      assert_refused(/invalid option: --nonsense/, "--nonsense")
    end

    test "bin/test refuses a cell of the matrix or a Rails that there is not" do
      assert_refused(/no such cell of the matrix: nonsense; known: rails-7\.1, /, "--no-setup", "--matrix", "nonsense")
      assert_refused(/invalid argument: --rails 6\.1/, "--rails", "6.1")
    end

    test "bin/test ends with the sum of what it ran" do
      output, status = run_counts_test
      assert_predicate status, :success?, output
      assert_match(/\A[1-9]\d* passed, 0 failed, 0 skipped\n\z/, output.lines.last)
    end

    test "bin/test hands options behind a double dash to minitest" do
      output, = run_counts_test("--", "-n", "/several_lines/")
      assert_equal "1 passed, 0 failed, 0 skipped\n", output.lines.last
    end

    private

    # With logs of its own: a run of bin/test may be what runs this.
    def run_counts_test(*options)
      run_command("bin/test", "--no-setup", "--logs", directory, "test/house/counts_test.rb", *options)
    end

    def run_command(*command)
      Open3.capture2e(*command, chdir: ROOT)
    end

    def assert_refused(message, *arguments)
      output, status = run_command("bin/test", *arguments)
      assert_not_predicate status, :success?
      assert_match message, output
      assert_match(/--help/, output)
    end
  end
end
