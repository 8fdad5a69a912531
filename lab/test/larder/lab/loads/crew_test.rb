# frozen_string_literal: true

require "test_helper"
require "larder/lab/loads"

module Larder
  module Lab
    module Loads
      class CrewTest < ActiveSupport::TestCase
        PROGRAM = <<~RUBY
          require "active_support"
          require "active_support/cache"
          require "active_support/core_ext/numeric/time"
          require "larder/lab/contenders"
          require "larder/lab/loads"
          crew = Larder::Lab::Loads::Crew.new(2, { "contender" => ARGV[0], "dir" => ARGV[1], "threads" => 2, "block" => 0 })
          answers = crew.ask(2, do: "open", endpoint: nil)
          start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          answers = crew.ask(2, do: "mix", mix: "95/5", start: start, seconds: 0.05)
          puts answers.map { |answer| answer["calls"] }.sum, answers.filter_map { |answer| answer["wrong"] }.size
          $stdout.flush
          sleep if ARGV[2]
          crew.dismiss
          puts "dismissed"
        RUBY

        test "its members call one store at once, and end when they are dismissed" do
          with_directory do |dir|
            out, = Open3.capture2(*command("file", dir))
            calls, wrong, last = out.lines.map(&:chomp)
            assert_operator calls.to_i, :>, 0
            assert_equal "0", wrong
            assert_equal "dismissed", last
            assert_empty processes(dir)
          end
        end

        test "they end when the process that made them is killed" do
          with_directory do |dir|
            reader, writer = IO.pipe
            pid = Process.spawn(*command("memory", dir, "stay"), out: writer)
            writer.close
            2.times { reader.gets }
            assert_equal 3, processes(dir).size
            Process.kill(:KILL, pid)
            Process.wait(pid)
            eventually { processes(dir).empty? }
          end
        end

        test "what a member raises is told" do
          with_directory do |dir|
            out, status = Open3.capture2e(*command("no-such-store", dir))
            refute status.success?
            assert_match(/unknown contender no-such-store/, out)
          end
        end

        private

        def command(*arguments, program: PROGRAM)
          [RbConfig.ruby, "-I", WorkerProcess::LIBRARY, "-e", program, *arguments]
        end
      end
    end
  end
end
