# frozen_string_literal: true

require "test_helper"
require_relative "../../rakelib/house/fetched"

module House
  # What is fetched once for all checkouts: it is there whole or not at all.
  class FetchedTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes

    setup do
      @before = ENV.fetch("XDG_CACHE_HOME", nil)
      ENV["XDG_CACHE_HOME"] = directory
    end

    teardown { ENV["XDG_CACHE_HOME"] = @before }

    test "it is fetched once, and found by everybody after that" do
      assert_not_predicate fetched, :there?
      assert_equal fetched.directory, fetch("first")
      assert_predicate fetched, :there?
      fetch("second")
      assert_equal "first", text
    end

    test "it is fetched again when it is made of something else, and nothing of the old one stays" do
      fetch("first") { |partial| File.write(File.join(partial, "old"), "") }
      assert_not_predicate fetched("more"), :there?
      fetch("second", "more")
      assert_equal "second", text
      assert_not File.exist?(File.join(fetched.directory, "old"))
    end

    test "one that was interrupted is never taken for whole" do
      assert_raises(Interrupt) { fetch("half") { raise Interrupt } }
      assert_not_predicate fetched, :there?
      fetch("whole")
      assert_equal "whole", text
    end

    test "a directory that somebody else has made there is replaced" do
      FileUtils.mkdir_p(File.join(fetched.directory, "tests"))
      fetch("whole")
      assert_equal "whole", text
      assert_not File.exist?(File.join(fetched.directory, "tests"))
    end

    test "processes that fetch it at once wait for the first" do
      children = Array.new(4) { |i| fork { exit!(fetch("child #{i}") { File.write(path_of("by #{i}"), "") } ? 0 : 1) } }
      assert(children.map { |pid| wait_for(pid) }.all?(&:success?))
      assert_equal 1, Dir[path_of("by *")].size
    end

    private

    def fetched(made_of = "files")
      Fetched.new("tests", made_of: made_of)
    end

    def fetch(text, made_of = "files")
      fetched(made_of).fetch do |partial|
        File.write(File.join(partial, "text"), text)
        yield partial if block_given?
      end
    end

    def text
      File.read(File.join(fetched.directory, "text"))
    end
  end
end
