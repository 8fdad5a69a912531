# frozen_string_literal: true

require "test_helper"
require_relative "../../proof/support/catalogue"
require_relative "../../rakelib/house/suites"

module House
  # Which jobs bin/test makes of which suites.
  class SuitesTest < ActiveSupport::TestCase
    include TemporaryDirectory

    test "every Ruby test file is in one job of one suite" do
      jobs = Suites.jobs(%w[ruby tools guards lab])
      files = jobs.flat_map { |job| job.argv.grep(/_test\.rb\z/) }
      assert_equal Dir.glob("{lab/test,test}/**/*_test.rb", base: ROOT).sort, files.sort
      assert_equal jobs.map(&:name).uniq, jobs.map(&:name)
    end

    test "what the tables of the suites name is there" do
      assert_empty(Suites::WEIGHTS.keys.select { |path| Dir["#{ROOT}/#{path}*"].empty? })
      assert_empty((Suites::OF_STACK + Suites::OF_OTHER_RAILS).select { |path| Suites.test_files(path).empty? })
      assert_empty Suites::PROOFS_OF_MATRIX - Proof::Catalogue::ALL.keys
      assert_empty(Suites::CALLS_TESTS.split.reject { |name| File.exist?("#{ROOT}/engine/test/#{name}.c") })
    end

    test "slow tests are run where a file is named, or all are asked for" do
      file = Suites.jobs_for_files(["test/larder/bytes/cache_test.rb"], []).last
      assert_equal "1", file.env["LARDER_SLOW_TESTS"]
      assert_equal ["1"], Suites.jobs(["tools"], slow: true).map { |job| job.env["LARDER_SLOW_TESTS"] }.uniq
      assert_equal [nil], Suites.jobs(["tools"]).map { |job| job.env["LARDER_SLOW_TESTS"] }.uniq
    end

    test "files of a group are run each in a process of its own, and options go to each" do
      first = file_of("first", %(test("passes") { assert $other.nil?; $other = 1 }))
      second = file_of("second", %(test("also passes") { assert $other.nil? }; test("not chosen") { flunk }))
      output, status = run_group(first, second, "--", "-n", "/passes/")
      assert_predicate status, :success?, output
      assert_equal 2, output.scan("1 runs, 1 assertions, 0 failures, 0 errors, 0 skips").size
    end

    test "a file of a group that fails, crashes or ends without a report fails the group, and the others are run" do
      files = [file_of("fails", %(test("fails") { flunk "wrong" })),
               file_of("crashes", %(test("crashes") { Process.kill(:KILL, Process.pid) })),
               file_of("ends", %(test("ends") { exit!(0) })),
               file_of("breaks", "raise 'no such thing'"), file_of("passes", %(test("passes") { assert true }))]
      output, status = run_group(*files)
      assert_not_predicate status, :success?
      assert_equal %w[crashes ends breaks], output.scan(/^FAILED: .*?(\w+)_test\.rb: no report of tests/).flatten
      assert_equal Counts.new(1, 4, 0), Counts.read(output)
    end

    private

    def file_of(name, body)
      path = path_of("#{name}_test.rb")
      File.write(path, "class #{name.capitalize}Test < ActiveSupport::TestCase\n#{body}\nend\n")
      path
    end

    def run_group(*arguments)
      program = "#{ROOT}/rakelib/house/test_files.rb"
      Open3.capture2e(RbConfig.ruby, "-I#{ROOT}/lib", "-I#{ROOT}/test", program, *arguments)
    end
  end
end
