# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class WorkerProcessTest < ActiveSupport::TestCase
      test "events arrive in order and the last one is answered" do
        events = []
        done = work({ seconds: 0 }) { |event| events << event["event"] }
        assert_equal %w[ready block], events
        assert_equal 7, done["bytes"]
      end

      test "a process that hangs is invalid and gone" do
        with_directory do |dir|
          error = assert_raises(Invalid) { work({ seconds: 60 }, dir: dir, timeout: 1.5) }
          assert_match(/did not finish within/, error.message)
          assert_empty processes(dir)
        end
      end

      test "a process that cannot even start is unavailable, with what it printed" do
        with_directory do |dir|
          File.write(File.join(dir, "Gemfile"), "raise %(no gems today)")
          error = assert_raises(Unavailable) { work({ seconds: 0 }, gemfile: File.join(dir, "Gemfile")) }
          assert_match(/does not start: .*no gems today/, error.message)
        end
      end

      private

      # Runs a worker that sleeps between two events.
      def work(job, dir: nil, timeout: 60, gemfile: nil, &block)
        return with_directory { |own| work(job, dir: own, timeout: timeout, gemfile: gemfile, &block) } unless dir

        script = File.join(dir, "worker.rb")
        File.write(script, <<~RUBY)
          require "larder/lab/answers"
          require "larder/lab/job"
          worker = Class.new do
            include Larder::Lab::Answers
            def run
              answering { emit("ready").then { sleep(@job["seconds"]) }.then { emit("block") }.then { { bytes: 7 } } }
            end
          end
          worker.new(*Larder::Lab::Job.take).run
        RUBY
        WorkerProcess.new(job, dir: dir, log: File.join(dir, "log"), timeout: timeout, gemfile: gemfile, script: script)
                     .run { |event| block&.call(event) }
      end
    end
  end
end
