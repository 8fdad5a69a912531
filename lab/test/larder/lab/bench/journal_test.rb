# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/conductor"
require "larder/lab/progress"
require "larder/lab/suites"
require "stringio"
require "support/simulated_turns"

module Larder
  module Lab
    module Bench
      class JournalTest < ActiveSupport::TestCase
        RUN = { "command" => "stores", "arguments" => ["--quick"] }.freeze

        test "a run and its sessions come back from the file, which only the user can read" do
          with_journal(2) do |journal|
            assert_equal 0o600, File.stat(journal.path).mode & 0o777
            read = reopened(journal)
            assert_equal RUN, read.run
            assert_equal [session(0), session(1)], read.of("applications")
            assert_empty read.of("published-a")
            assert_equal :invalid, read.of("applications").first.absent["b"].state
          end
        end

        test "no file is made before a session has finished" do
          journal = Journal.new(RUN)
          assert_nil journal.path
          journal.remove
        end

        test "a last line that was cut off is not a session, and another session takes its place" do
          with_journal(2) do |journal|
            File.truncate(journal.path, File.size(journal.path) - 9)
            read = reopened(journal)
            assert_equal [0], read.of("applications").map(&:number)
            read.add(session(1))
            assert_equal [0, 1], reopened(read).of("applications").map(&:number)
          end
        end

        test "a file that is damaged, foreign, missing or in use is refused with its name and the remedy" do
          with_journal(2) do |journal|
            path = journal.path
            assert_match(/#{path}: another run has it open/, refusal(path))
            reopened(journal).send(:file).close
            lines = File.readlines(path)
            [["{}\n"], [], ["rubbish\n"], ["[1]\n"], ["{\"run\":1}\n"], [lines[0], "{\"suite\":\n", lines[1]],
             [lines[0], lines[1].sub('"seconds":1', '"seconds":-1')],
             [lines[0], lines[1].sub('"turns"', '"other"')]].each do |damaged|
              File.write(path, damaged.join)
              assert_match(/#{path}: this is not the file of a stopped run, or it is damaged; start a new run/,
                           refusal(path))
            end
            assert_match(/--continue #{path}.none: No such file/, refusal("#{path}.none"))
            assert_match(/Is a directory/, refusal(File.dirname(path)))
          end
        end

        test "a conductor measures only missing sessions, in the order that they would have had" do
          whole = conduct(journal = Journal.new(RUN))
          File.write(journal.path, File.readlines(journal.path).first(2).join)
          rest = conduct(again = reopened(journal))
          orders = [whole, rest].map { |turns| turns.map { |turn| [turn.row, turn.copy, turn.session, turn.pass] } }
          assert_equal(*orders)
          assert_equal(*[whole, rest].map { |turns| turns.select { |turn| turn.session.zero? } })
          assert_not_equal whole.to_a, rest.to_a
          assert_equal rest.to_a, conduct(reopened(again)).to_a
        ensure
          journal.remove
        end

        test "rows that were left out stay out, with the reasons" do
          with_journal(2) do |journal|
            conductor = conductor(Plan.new(suite: Suites.fetch("applications"), rows: %w[a b], sessions: 2, seed: 1),
                                  Samples.new, reopened(journal))
            assert_equal [24], [conductor.run.count]
            assert_equal ["it died", "cannot"], [conductor.absent["b"].reason, conductor.skipped[%w[a json]]]
            assert_equal "Redis 7", conductor.recorded.dig("a", "server", :version)
          end
        end

        private

        def with_journal(sessions)
          journal = Journal.new(RUN)
          sessions.times { |number| journal.add(session(number)) }
          yield journal
        ensure
          journal.remove
        end

        # As another process would read it.
        def reopened(journal)
          journal.send(:file).close
          Journal.open(journal.path)
        end

        def session(number)
          turns = SimulatedTurns.new({ "a" => 1.0 }, seed: number, sessions: 1).samples.each { |t| t.session = number }
          Journal::Session.new(suite: "applications", number: number, turns: turns.to_a,
                               absent: { "b" => Absence.new(state: :invalid, reason: "it died", block: "hit") },
                               skipped: { %w[a json] => "cannot" },
                               recorded: { "a" => { "versions" => {}, "server" => { version: "Redis 7" } } })
        end

        def refusal(path) = assert_raises(UsageError) { Journal.open(path) }.message

        def conduct(journal)
          suite = Suites.fetch("published-a")
          plan = Plan.new(suite: suite, rows: %w[memory], blocks: [suite.fetch("hit")], sessions: 3, passes: 3,
                          turn_seconds: 0.0005, seed: 5, size: 4 << 20)
          conductor(plan, Samples.new, journal).run
        end

        def conductor(plan, samples, journal)
          Conductor.new(plan, samples, progress: Progress.new(CLI::Terminal.new(StringIO.new)), journal: journal)
        end
      end
    end
  end
end
