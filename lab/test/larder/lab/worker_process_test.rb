# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class WorkerProcessTest < ActiveSupport::TestCase
      test "events arrive in order and the last one is answered" do
        events = []
        done = work("memory") { |event| events << event }
        assert_equal %w[ready block block], names(events)
        assert_operator done["memory_bytes"], :>=, 0 if File.exist?("/proc/self/status")
      end

      test "a process that hangs is invalid and gone" do
        with_directory do |dir|
          error = assert_raises(Invalid) { work("sleeper", dir: dir, timeout: 1.5) }
          assert_match(/did not finish within/, error.message)
          assert_empty processes(dir)
        end
      end

      test "a process that cannot even start is unavailable, with what it printed" do
        with_directory do |dir|
          File.write(File.join(dir, "Gemfile"), "raise %(no gems today)")
          error = assert_raises(Unavailable) { work("memory", gemfile: File.join(dir, "Gemfile")) }
          assert_match(/does not start: .*no gems today/, error.message)
        end
      end

      private

      def names(events)
        events.map { |event| event["event"] }
      end

      def work(contender, dir: nil, timeout: 60, gemfile: nil, &block)
        return with_directory { |own| work(contender, dir: own, timeout: timeout, gemfile: gemfile, &block) } unless dir

        requires = [fixture("liar"), fixture("two_blocks")]
        job = { contender: contender, requires: requires, dir: dir, load: "two_blocks", seconds: 0.001, shares: [] }
        WorkerProcess.new(job, dir: dir, log: File.join(dir, "log"), timeout: timeout, gemfile: gemfile,
                               script: Loads::Rounds::SCRIPT).run { |event| block&.call(event) }
      end
    end
  end
end
