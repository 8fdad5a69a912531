# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The executable with directories of reports.
      class CompareTest < ActiveSupport::TestCase
        # How far the five reports of a side are from its mean.
        NOISE = [1.00, 1.01, 0.99, 1.02, 0.98].freeze
        FIGURES = { "larder" => 100.0, "memory" => 1500.0, "redis" => 8000.0 }.freeze

        test "reports that differ by chance differ in nothing" do
          outcome = compare("--fail-on", "1%")
          assert_equal 0, outcome.status, outcome.err
          assert_match(/0 of 3 measures are worse, 0 better .*; no difference is shown in 3,/, outcome.words)
          assert_match(/None is shown to be worse by more than 1.0 %/, outcome.out)
          assert_match(/A change of \d+(\.\d)? % would have been found in 8 of 10 comparisons/, outcome.words)
        end

        test "one that became worse fails by its name; one below --fail-on, or that became better, does not" do
          outcome = compare("--fail-on", "5%", after: { "larder" => 1.5 })
          assert_equal 1, outcome.status
          assert_match(/1 of 3 measures are worse, 0 better/, outcome.words)
          assert_match(/^  larder +worse +100 B +150 B +1\.50 \(/, outcome.out)
          assert_match(/Worse by more than 5.0 %: larder\./, outcome.words)
          { { "larder" => 1.5 } => ["60%", "no difference is shown"], { "larder" => 1 / 1.5 } => ["5%", "better"] }
            .each do |after, (share, verdict)|
            outcome = compare("--fail-on", share, after: after)
            assert_equal 0, outcome.status, outcome.out
            assert_match(/^  larder +#{verdict} /, outcome.out)
          end
        end

        test "of rates more is better, and exact values are compared without noise" do
          slower = compare("--fail-on", "5%", after: { "redis" => 1 / 1.5 }, unit: "per second", better: "higher")
          assert_match(/Worse by more than 5.0 %: redis\./, slower.words)
          exact = compare(noise: [1.0] * 3, after: { "larder" => 1.001 })
          assert_match(/1 of 3 measures are worse, 0 better/, exact.words)
        end

        test "a report that has a value for each session is enough" do
          assert_match(/of 3 measures/, compare(by_session: 3, noise: [1.0]).words)
          assert_match(%r{Not compared: hitratio/larder, hitratio/memory}, compare(by_session: 2, noise: [1.0]).words)
        end

        test "too few reports compare nothing, which is a failure that says what is needed; nor do values of 0" do
          outcome = compare(noise: NOISE.first(2))
          assert_equal 1, outcome.status
          assert_match(/No measure could be compared/, outcome.out)
          assert_match(%r{Not compared: hitratio/larder, .* Each side needs 3 values above 0}, outcome.words)
          outcome = compare(after: { "memory" => 0.0 })
          assert_match(%r{Not compared: hitratio/memory\.}, outcome.words)
          assert_match(/of 2 measures/, outcome.words)
        end

        test "a comparison that all could not make has nothing to compare, and the others are compared" do
          failed = Document::Chapter.new(key: "soak", title: "Soak", failed: true, warnings: ["Not measured: no room"])
          outcome = compare { |document, *| document.chapters << failed }
          assert_equal 0, outcome.status, outcome.err
          assert_match(/0 of 3 measures are worse/, outcome.words)
        end

        test "measures of one side are named, and facts of the environment that differ" do
          outcome = compare { |document, at| document.environment["yjit"] = at.odd? }
          assert_match(/The use of YJIT differs: false and true/, outcome.words)
          outcome = compare { |document, _, first| document.chapters.first.measures.pop if first }
          assert_match(%r{Only one side has hitratio/redis\.}, outcome.words)
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

        private

        # Its calls take about 15 microseconds, and 500 more where it is slowed: far beyond what other load does.
        def run_patient(path, patience, slowness)
          run = small_run("--blocks", "miss", "--only", "patient", "--sessions", "6", "--passes", "4", "--require",
                          fixture("patient"), "--json", path,
                          env: { "LARDER_LAB_PATIENCE" => patience.to_s, "LARDER_LAB_SLOWNESS" => slowness.to_s })
          assert_equal 0, run.status, run.err
        end

        def assert_patient(dir, first, second, status, conclusion)
          outcome = lab("compare", *[first, second].map { |name| File.join(dir, "#{name}.json") }, "--fail-on", "50%")
          assert_equal status, outcome.status, outcome.out
          assert_match conclusion, outcome.words
        end

        # Two sets of reports; some figures of the second are greater.
        def compare(*options, noise: NOISE, after: {}, **how, &block)
          with_directory do |dir|
            { "first" => {}, "second" => after }.each do |side, changes|
              Dir.mkdir(File.join(dir, side))
              noise.each_with_index do |wobble, at|
                document = report(how) { |name| FIGURES[name] * wobble * changes.fetch(name, 1.0) }
                block&.call(document, at, side == "first")
                File.write(File.join(dir, side, "#{at}.json"), Reports::Json.new(document).to_s)
              end
            end
            here("compare", *%w[first second].map { |side| File.join(dir, side) }, *options)
          end
        end

        def report(how)
          measures = FIGURES.keys.map do |name|
            values = [yield(name)] * how[:by_session] if how[:by_session]
            Document::Measure.new(key: "hitratio/#{name}", label: name, unit: "bytes", better: "lower",
                                  samples: [yield(name)], **how, by_session: values)
          end
          chapter = Document::Chapter.new(key: "hitratio", title: "Figures", measures: measures)
          Document.new(command: "hitratio", chapters: [chapter], elapsed_seconds: 1.0, environment: { "yjit" => "on" })
        end
      end

      # Simulated turns of 26 measures become reports in JSON, and two such reports become verdicts.
      class ComparingTest < ActiveSupport::TestCase
        BLOCKS = %w[fragment json].freeze
        ROWS = Contenders.names.first(13).freeze
        # A row in a block.
        SLOWED = [ROWS[6], "json"].freeze

        test "a machine that is slower as a whole changes no ratio and no verdict, and it is said" do
          usual, slower = [1.0, 1.5].map { |machine| compare(3, machine: machine, slowed: { SLOWED => 1.3 }) }
          assert_equal shown(usual), shown(slower)
          usual.changes.zip(slower.changes) { |one, other| assert_in_delta one.ratio, other.ratio, 1e-9 }
          assert_match(/The reference loop took 1\.[3-7]\d times as long/, slower.to_chapter.conclusions.join)
        end

        test "all sessions of several reports count together, so that smaller changes are found" do
          one, three = [1, 3].map { |reports| compare(5, slowed: { SLOWED => 1.1 }, reports: reports) }
          assert_operator three.changes.first.detectable, :<, one.changes.first.detectable
          assert_equal [["applications/json/#{ROWS[6]}", :worse]], shown(three)
        end

        test "a machine that was too busy to tell in every measure is said to be so, and fails --fail-on" do
          usual, gate = [nil, 0.05].map { |share| compare(2, fail_on: share, turn: 1.0, process: 0.4).to_chapter }
          assert_equal [false, true], [usual, gate].map(&:failed?)
          assert_match(/too busy to tell in 26\./, usual.conclusions.first)
          assert_equal ["too busy to tell"], usual.sections.first.blocks.first.rows.map { |row| row[1] }.uniq
          assert_match(/\A--fail-on decides nothing, .* measure both sides again/, gate.conclusions.last)
        end

        private

        def shown(chapter)
          chapter.changes.map { |change| [change.key, chapter.verdict(change)] }
                 .reject { |_, verdict| %i[alike unknown].include?(verdict) }
        end

        def compare(seed, fail_on: nil, slowed: {}, machine: 1.0, **how)
          with_directory do |dir|
            sides = [[{}, 1.0], [slowed, machine]].map.with_index do |(changes, factor), side|
              side(File.join(dir, side.to_s), changes, factor, (2 * seed) + side, **how)
            end
            Comparing::Chapter.new(*sides, fail_on: fail_on)
          end
        end

        def side(dir, slowed, machine, seed, reports: 1, **noise)
          Dir.mkdir(dir)
          reports.times do |at|
            factors = [*ROWS, Bench::ReferenceLoop::KEY].to_h { |row| [row, machine] }
            chapter = SimulatedRuns.chapter(factors, rows: ROWS, blocks: BLOCKS, passes: 3, seed: seed + (1000 * at),
                                                     slowed: slowed, **noise)
            File.write(File.join(dir, "#{at}.json"), JSON.generate(SimulatedRuns.document(chapter).to_h))
          end
          Comparing::Runs.new(dir)
        end
      end
    end
  end
end
