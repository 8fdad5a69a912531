# frozen_string_literal: true

# Runs Ruby test files, each in a process of its own that is forked from this one. Bundler and the test helper are
# loaded once, which takes longer than most of the files.
#
# Run as a program: ruby -w -rbundler/setup -Ilib -Itest rakelib/house/test_files.rb FILE... [-- MINITEST-OPTIONS]

require "test_helper"

module House
  # Forks a child for each file and fails where one failed.
  class TestFiles
    # @param files [Array<String>]
    # @param options [Array<String>] for minitest
    def initialize(files, options)
      @files = files
      @options = options
    end

    # @return [Boolean] whether all passed
    def run
      $stdout.sync = true
      @files.map { |file| green?(file) }.all?
    end

    private

    # A child that ends without minitest's report, whatever its exit status, has failed. Minitest takes a method whose
    # name begins with "pass" for an assertion, and would show its line for each failure.
    def green?(file)
      puts "# #{file}"
      reader, writer = IO.pipe
      pid = fork { test(file, writer) }
      writer.close
      _, status = Process.wait2(pid)
      reported = reader.read_nonblock(1, exception: false) == "x"
      puts "FAILED: #{file}: no report of tests (#{status})", "0 passed, 1 failed" unless reported
      reported && status.success?
    ensure
      reader.close
    end

    def test(file, writer)
      ARGV.replace(@options)
      $PROGRAM_NAME = file
      Minitest.after_run { writer.write("x") }
      load File.expand_path(file)
    end
  end
end

separator = ARGV.index("--") || ARGV.size
passed = House::TestFiles.new(ARGV[0...separator], ARGV.drop(separator + 1)).run
exit!(passed) # minitest's own at_exit is for the children
