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
          assert_match(/0 of 3 measures are worse, 0 better .*; no difference is shown in 3,/, words(outcome))
          assert_match(/None is shown to be worse by more than 1.0 %/, outcome.out)
        end

        test "one contender that is slower is worse, and no other is better for it" do
          outcome = compare("--fail-on", "5%", after: { "larder" => 1.5 })
          assert_equal 1, outcome.status
          assert_match(/1 of 3 measures are worse, 0 better/, words(outcome))
          assert_match(/^  larder +\S+ µs +\S+ µs +1\.50 \(.*\) +\S+ % +worse/, outcome.out)
          assert_match(/Worse by more than 5.0 %: larder\./, words(outcome))
        end

        test "one that is faster is better, no other is worse for it, and a gain never fails" do
          outcome = compare("--fail-on", "5%", after: { "larder" => 1 / 1.5 })
          assert_equal 0, outcome.status, outcome.out
          assert_match(/0 of 3 measures are worse, 1 better/, words(outcome))
          assert_match(/^  larder .* better$/, outcome.out)
        end

        test "a machine that is slower as a whole changes nothing, and it is said" do
          outcome = compare("--fail-on", "5%", machine: 1.5)
          assert_equal 0, outcome.status, outcome.out
          assert_match(/0 of 3 measures are worse, 0 better/, words(outcome))
          assert_match(/The reference loop took 1.5\d times as long in the second reports/, words(outcome))
        end

        test "one that is slower on a machine that is faster by as much is worse all the same" do
          outcome = compare("--fail-on", "5%", machine: 1 / 1.5, after: { "memory" => 1.5 })
          assert_equal 1, outcome.status
          assert_match(/Worse by more than 5.0 %: memory\./, words(outcome))
        end

        test "calls a second are fewer on a slower machine, which changes nothing either" do
          assert_match(/0 of 3 measures are worse, 0 better/, words(compare(machine: 1.5, unit: "per second")))
          slower = compare("--fail-on", "5%", machine: 1.5, after: { "redis" => 1.5 }, unit: "per second")
          assert_match(/Worse by more than 5.0 %: redis\./, words(slower))
        end

        test "a change below --fail-on is not shown to be worse" do
          outcome = compare("--fail-on", "60%", after: { "larder" => 1.5 })
          assert_equal 0, outcome.status
          assert_match(/^  larder .* no difference is shown$/, outcome.out)
        end

        test "exact values are compared without noise, also where the sides have different numbers of reports" do
          outcome = compare(second: SECOND.first(3), machine: 1.5, unit: "bytes", after: { "larder" => 1.001 })
          assert_match(/1 of 3 measures are worse, 0 better/, words(outcome))
          assert_match(/^  larder .* worse$/, outcome.out)
        end

        test "too few reports compare nothing, which is a failure that says what is needed" do
          outcome = compare(second: SECOND.first(2))
          assert_equal 1, outcome.status
          assert_match(/No measure could be compared/, outcome.out)
          assert_match(%r{Not compared: stores/larder, .* Each side needs 3 values above 0}, words(outcome))
        end

        test "times without the reference loop, and values of 0, are not compared" do
          assert_match(/Not compared: .* Times also need the reference loop/, words(compare(laps: 0)))
          outcome = compare(after: { "memory" => 0.0 }, unit: "bytes")
          assert_match(%r{Not compared: stores/memory\.}, words(outcome))
          assert_match(/of 2 measures/, words(outcome))
        end

        test "measures of one side are named, and facts of the environment that differ" do
          outcome = compare { |document, at| document.environment["yjit"] = at.odd? }
          assert_match(/The use of YJIT differs: false and true/, words(outcome))
          outcome = compare(machine: 2.0) { |document, _, first| document.chapters.first.measures.pop if first }
          assert_match(%r{Only one side has stores/redis\.}, words(outcome))
        end

        slow_test "of real runs: equal ones pass, a slower row fails, and a slower machine passes" do
          with_directory do |dir|
            { "usual" => [0, 1], "again" => [0, 1], "slowed" => [10, 1], "machine" => [0, 3] }.each do |name, how|
              run_patient(File.join(dir, "#{name}.json"), *how)
            end
            assert_patient(dir, "usual", "again", 0, /None is shown to be worse by more than 50 %/)
            assert_patient(dir, "usual", "slowed", 1, /Worse by more than 50 %: patient: miss, one thread\./)
            assert_patient(dir, "slowed", "usual", 0, /None is shown to be worse by more than 50 %/)
            assert_patient(dir, "usual", "machine", 0, /None is shown to be worse by more than 50 %/)
          end
        end

        test "wrong usage says what is wrong" do
          with_directory do |empty|
            other = File.join(empty, "other.txt")
            File.write(other, "{}")
            { ["one"] => /name two reports, or two directories of reports, not 1/,
              ["a", "b", "--fail-on", "5"] => /--fail-on 5: give percent, as 5%/,
              ["/nowhere/a", "/nowhere/b"] => %r{/nowhere/a: No such file},
              [empty, empty] => /#{empty}: no JSON file in this directory; --json FILE writes one/,
              [other, other] => /other.txt: not a report of larder-lab/ }.each do |arguments, message|
              outcome = lab("compare", *arguments)
              assert_equal 2, outcome.status
              assert_match message, outcome.err
            end
          end
        end

        private

        # Its calls take about 15 microseconds, and 500 more where it is slowed: far beyond what other load does.
        def run_patient(path, patience, slowness)
          run = small_run("--blocks", "miss", "--only", "patient", "--sessions", "3", "--passes", "2", "--require",
                          fixture("patient"), "--json", path,
                          env: { "LARDER_LAB_PATIENCE" => patience.to_s, "LARDER_LAB_SLOWNESS" => slowness.to_s })
          assert_equal 0, run.status, run.err
        end

        def assert_patient(dir, first, second, status, conclusion)
          outcome = lab("compare", *[first, second].map { |name| File.join(dir, "#{name}.json") }, "--fail-on", "50%")
          assert_equal status, outcome.status, outcome.out
          assert_match conclusion, words(outcome)
        end

        # Two sets of runs; the second on a machine that takes so many times as long, where some contenders take more.
        def compare(*options, first: FIRST, second: SECOND, machine: 1.0, after: {}, **how, &block)
          with_directory do |dir|
            sides = { "first" => [first, {}], "second" => [second.map { |speed| speed * machine }, after] }
            sides.each do |side, (speeds, changes)|
              Dir.mkdir(File.join(dir, side))
              speeds.each_with_index do |speed, at|
                write(File.join(dir, side, "#{at}.json"), speed, changes, [at, side == "first"], how, &block)
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
          yield document, *at if block_given?
          File.write(path, Reports::Json.new(document).to_s)
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
