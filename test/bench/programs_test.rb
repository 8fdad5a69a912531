# frozen_string_literal: true

require "test_helper"
require_relative "../../bench/support/command"

module Bench
  class ProgramsTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes

    test "what a program printed is answered, and one that fails is named" do
      assert_equal "measured\n", Programs.run({}, "echo", "measured")
      error = assert_raises(Failed) { Programs.run({}, "sh", "-c", "echo half; exit 3") }
      assert_match(/\Ash -c echo half; exit 3 ... ended with pid \d+ exit 3\nhalf\n\z/, error.message)
    end

    test "a process that is told to end ends the program that it runs" do
      noted = path_of("pid")
      pid = fork do
        Programs.run({}, "sh", "-c", "echo $$ > #{noted}; exec sleep 60")
      ensure
        exit!(0)
      end
      sleep 0.01 until File.size?(noted)
      program = Integer(File.read(noted))
      Process.kill(:TERM, pid)
      assert_predicate wait_for(pid), :success?
      assert(eventually { ended?(program) })
    end
  end
end
