# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/callers"

module Larder
  module Lab
    module Bench
      class CallersTest < ActiveSupport::TestCase
        test "processes get ready, begin at one time, and answer in the order of their numbers" do
          ready, begun = false, now
          answers = Callers.all(3, ready: -> { ready = true }) { |number, start| [number, start, ready, Process.pid] }
          numbers, starts, readies, pids = answers.transpose
          assert_equal [0, 1, 2], numbers
          assert_equal [1, 3], [starts, pids].map { |all| all.uniq.size }
          assert_equal [true], readies.uniq
          assert_operator starts.first, :>, begun
          assert_not ready
          assert_empty children
        end

        test "the process that forks them works at the same time" do
          with_directory do |dir|
            meet = lambda do |own, other|
              File.write(File.join(dir, own), "")
              eventually { File.exist?(File.join(dir, other)) }
            end
            assert_equal [true], Callers.all(1, here: -> { meet["here", "there"] }) { meet["there", "here"] }
          end
        end

        test "a process that is killed has no answer, and others have theirs, also if it is nil" do
          kill_second = ->(number, _) { number == 1 ? Process.kill(:KILL, Process.pid) : nil.to_a }
          assert_equal [[], nil, []], Callers.run(3, &kill_second)
          assert_equal "a process that called the store ended early",
                       assert_raises(Invalid) { Callers.all(3, &kill_second) }.message
        end

        test "an error in a process is raised here, before it begins and after" do
          [[Invalid, "wrong"], [Unavailable, "missing"]].each do |type, message|
            assert_equal message, assert_raises(type) { Callers.run(2) { raise type, message } }.message
            assert_equal message,
                         assert_raises(type) { Callers.run(2, ready: -> { raise type, message }) { 1 } }.message
          end
          silent = -> { $stderr.reopen(File::NULL) }
          assert_equal "ArgumentError: bad",
                       assert_raises(Invalid) { Callers.run(1, ready: silent) { raise ArgumentError, "bad" } }.message
          assert_empty children
        end

        test "they end when the process that forked them is killed" do
          with_directory do |dir|
            program = "require 'larder/lab/bench/callers'; Larder::Lab::Bench::Callers.run(2) { sleep }"
            pid = Process.spawn(RbConfig.ruby, "-I", Preloader::LIBRARY, "-e", program, chdir: dir)
            eventually { processes(dir).size == 3 }
            Process.kill(:KILL, pid)
            Process.wait(pid)
            assert eventually { processes(dir).empty? }
          end
        end

        private

        def children = File.read("/proc/self/task/#{Process.pid}/children").split
      end
    end
  end
end
