# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The executable with directories of runs.
      class CompareTest < ActiveSupport::TestCase
        # How much slower or faster than usual each of the runs was as a whole.
        FIRST = [1.00, 1.10, 0.95, 1.30, 1.02].freeze
        SECOND = [1.05, 1.01, 1.20, 0.97, 1.12].freeze
        # Seconds of a call on a usual machine.
        CALLS = { "larder" => 1e-6, "memory" => 15e-6, "redis" => 80e-6 }.freeze
        LOOP = 2e-3

        test "the same twice, on a machine that is never the same, differs in nothing" do
          outcome = compare("--fail-on", "1%")
          assert_equal 0, outcome.status, outcome.err
          assert_match(/Of 3 measures 0 are worse, 0 better; of the other 3 no difference is shown/, words(outcome))
          assert_match(/None is worse by more than 1.0 %/, outcome.out)
        end

        test "one contender that is slower is worse, and no other is better for it" do
          outcome = compare("--fail-on", "5%", after: { "larder" => 1.5 })
          assert_equal 1, outcome.status
          assert_match(/Of 3 measures 1 are worse, 0 better/, words(outcome))
          assert_match(/^  larder +\S+ µs +\S+ µs +1\.5\d \(.*\) +worse/, outcome.out)
          assert_match(/Worse by more than 5.0 %: larder\./, words(outcome))
        end

        test "one that is faster is better, no other is worse for it, and a gain never fails" do
          outcome = compare("--fail-on", "5%", after: { "larder" => 1 / 1.5 })
          assert_equal 0, outcome.status, outcome.out
          assert_match(/Of 3 measures 0 are worse, 1 better/, words(outcome))
          assert_match(/^  larder .* better$/, outcome.out)
        end

        test "a machine that is slower as a whole changes nothing, and it is said" do
          outcome = compare("--fail-on", "5%", machine: 1.5)
          assert_equal 0, outcome.status, outcome.out
          assert_match(/Of 3 measures 0 are worse, 0 better/, words(outcome))
          assert_match(/The reference loop took 1.5\d \(.*\) times as long in the second runs/, words(outcome))
        end

        test "one that is slower on a machine that is faster by as much is worse all the same" do
          outcome = compare("--fail-on", "5%", machine: 1 / 1.5, after: { "memory" => 1.5 })
          assert_equal 1, outcome.status
          assert_match(/Worse by more than 5.0 %: memory\./, words(outcome))
        end

        test "calls a second are fewer on a slower machine, which changes nothing either" do
          assert_match(/0 are worse, 0 better/, words(compare(machine: 1.5, unit: "per second")))
          slower = compare("--fail-on", "5%", machine: 1.5, after: { "redis" => 1.5 }, unit: "per second")
          assert_match(/Worse by more than 5.0 %: redis\./, words(slower))
        end

        test "in absolute figures a slower machine changes everything" do
          outcome = compare("--absolute", machine: 1.5)
          assert_match(/Of 3 measures 3 are worse/, words(outcome))
        end

        test "what is worse by less than was allowed is told and does not fail" do
          outcome = compare("--fail-on", "60%", after: { "larder" => 1.5 })
          assert_equal 0, outcome.status
          assert_match(/^  larder .* worse$/, outcome.out)
        end

        test "where a difference is shown, how many there would be by chance is said" do
          assert_match(/Intervals err: of 3 some 1 would differ by chance alone/,
                       words(compare(after: { "larder" => 1.5 })))
        end

        test "fewer than five pairs of runs are refused" do
          outcome = compare(first: FIRST.first(4), second: SECOND.first(4))
          assert_equal 2, outcome.status
          assert_match(/first has 4 runs and .*second 4: compare takes pairs of runs, 5 or more/, outcome.err)
          assert_match(/first has 5 runs and .*second 4: compare takes pairs/, compare(second: SECOND.first(4)).err)
        end

        test "runs without the reference loop are refused, unless absolute figures will do" do
          assert_match(%r{first: no run of the reference loop beside stores/larder}, compare(laps: 0).err)
          assert_equal 0, compare("--absolute", laps: 0).status
        end

        test "what not all runs have is named, and what ought to be alike and is not" do
          outcome = compare { |document, at| document.environment["yjit"] = at.odd? }
          assert_match(/The use of YJIT differs: false and true/, words(outcome))
          outcome = compare { |document, at| document.chapters.first.measures.pop if at == 4 }
          assert_match(%r{Only some runs have stores/redis\.}, words(outcome))
        end

        # A thousand times is far beyond what a busy machine does to a run, so that one of each kind stands for five.
        slow_test "of real runs: one contender slowed on purpose, the same sped up, and all of the machine slowed" do
          with_directory do |dir|
            { "usual" => [0, 1], "slowed" => [1000, 1], "machine" => [0, 1000] }.each do |name, (patience, slowness)|
              Dir.mkdir(File.join(dir, name))
              run = run_patient(File.join(dir, name, "0.json"), patience, slowness)
              (1..4).each { |at| FileUtils.cp(run, File.join(dir, name, "#{at}.json")) }
            end
            assert_patient(dir, "usual", "slowed", 1, /Worse by more than 10,?000 %: patient: miss, one thread\./)
            assert_patient(dir, "slowed", "usual", 0, /None is worse by more than 10,?000 %/)
            assert_patient(dir, "usual", "machine", 0, /None is worse by more than 10,?000 %/)
          end
        end

        test "wrong usage says what is wrong" do
          { ["one"] => /name two directories of runs, not 1/,
            ["a", "b", "--fail-on", "5"] => /--fail-on 5: give percent, as 5%/,
            ["/nowhere/a", "/nowhere/b"] => %r{/nowhere/a: no directory; name two} }.each do |arguments, message|
            outcome = lab("compare", *arguments)
            assert_equal 2, outcome.status
            assert_match message, outcome.err
          end
        end

        private

        def run_patient(path, patience, slowness)
          run = small_run("--blocks", "miss", "--only", "memory,patient", "--require", fixture("patient"), "--json",
                          path, env: { "LARDER_LAB_PATIENCE" => patience.to_s, "LARDER_LAB_SLOWNESS" => slowness.to_s })
          assert_equal 0, run.status, run.err
          path
        end

        def assert_patient(dir, first, second, status, conclusion)
          outcome = lab("compare", File.join(dir, first), File.join(dir, second), "--fail-on", "10000%")
          assert_equal status, outcome.status, outcome.out
          assert_match conclusion, words(outcome)
          assert_no_match(/Worse by .*: memory/, words(outcome))
        end

        # Two sets of runs; the second on a machine that takes so many times as long, where some contenders take more.
        def compare(*options, first: FIRST, second: SECOND, machine: 1.0, after: {}, **how, &block)
          with_directory do |dir|
            sides = { "first" => [first, {}], "second" => [second.map { |speed| speed * machine }, after] }
            sides.each do |side, (speeds, changes)|
              Dir.mkdir(File.join(dir, side))
              speeds.each_with_index do |speed, at|
                write(File.join(dir, side, "#{at}.json"), speed, changes, at, how, &block)
              end
            end
            lab("compare", *sides.keys.map { |side| File.join(dir, side) }, *options)
          end
        end

        # A run of some rounds, none of which is as fast as the others.
        def write(path, speed, changes, at, how)
          document = SampleDocument.build
          document.chapters.first.measures = CALLS.map do |name, seconds|
            measure(name, seconds * speed * changes.fetch(name, 1.0), how.fetch(:unit, "seconds"))
          end
          laps = Array.new(how.fetch(:laps, 7)) { |lap| LOOP * speed * (1 + (0.01 * (lap % 3))) }
          document.chapters.first.measures.unshift(reference(laps)) if laps.any?
          yield document, at if block_given?
          File.write(path, Reports::Data.new(document).to_s)
        end

        def measure(name, seconds, unit)
          samples = [1.0, 1.02, 0.99].map { |wobble| seconds * wobble }
          rate = unit == "per second"
          Document::Measure.new(key: "stores/#{name}", label: name, unit: unit, better: rate ? "higher" : "lower",
                                samples: rate ? samples.map { |each| 1 / each } : samples, base: "reference")
        end

        def reference(laps)
          Document::Measure.new(key: "reference", label: "the reference loop", unit: "seconds", better: "lower",
                                samples: laps)
        end

        def words(outcome)
          outcome.out.gsub(/\s+/, " ")
        end
      end
    end
  end
end
