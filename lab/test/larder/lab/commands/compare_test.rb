# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The executable with files of runs.
      class CompareTest < ActiveSupport::TestCase
        STEADY = [1.00e-6, 1.01e-6, 0.99e-6, 1.02e-6, 1.00e-6].freeze
        SLOWER = STEADY.map { |seconds| seconds * 1.2 }.freeze

        test "the same run twice differs in nothing" do
          outcome = compare(STEADY, STEADY, "--fail-on", "1%")
          assert_equal 0, outcome.status, outcome.err
          assert_match(/Of 2 measures 0 are worse, 0 better; of the other 2 no difference is shown/, words(outcome))
          assert_match(/None is worse by more than 1.0 %/, outcome.out)
        end

        test "what is worse by more than was allowed fails and is named" do
          outcome = compare(STEADY, SLOWER, "--fail-on", "5%")
          assert_equal 1, outcome.status
          assert_match(/redis +80.0× +96.0× +1.20 \(.*\) +worse/, outcome.out)
          assert_match(/Worse by more than 5.0 %: redis\./, words(outcome))
        end

        test "what is worse by less is told and does not fail; a gain never fails" do
          assert_equal 0, compare(STEADY, SLOWER, "--fail-on", "30%").status
          gain = compare(SLOWER, STEADY, "--fail-on", "5%")
          assert_equal 0, gain.status
          assert_match(/better$/, gain.out)
        end

        test "a machine slower as a whole changes nothing but the base" do
          outcome = compare(STEADY, STEADY, base: SLOWER, slower: 1.2)
          assert_match(/Of 2 measures 1 are worse/, words(outcome))
          assert_no_match(/^  redis/, outcome.out)
        end

        test "in absolute figures it changes everything" do
          outcome = compare(STEADY, STEADY, "--absolute", base: SLOWER, slower: 1.2)
          assert_match(/Of 2 measures 2 are worse/, words(outcome))
        end

        test "a single round shows no difference" do
          outcome = compare(STEADY.first(1), SLOWER.first(1), "--fail-on", "5%")
          assert_equal 0, outcome.status
          assert_match(/taken once and have no interval/, words(outcome))
        end

        test "where a difference is shown, how many there would be by chance is said" do
          assert_match(/Intervals err: of 2 some 1 would differ by chance alone/, words(compare(STEADY, SLOWER)))
        end

        test "wrong usage says what is wrong" do
          { ["one.json"] => /name two JSON files, not 1/,
            ["a", "b", "--fail-on", "5"] => /--fail-on 5: give percent, as 5%/,
            ["/nowhere/a.json", "/nowhere/b.json"] => %r{/nowhere/a.json: No such file} }.each do |arguments, message|
            outcome = lab("compare", *arguments)
            assert_equal 2, outcome.status
            assert_match message, outcome.err
          end
        end

        private

        # Runs in which redis takes 80 times as long as larder.
        def compare(before, after, *options, base: STEADY, slower: 1.0)
          with_directory do |dir|
            larder = [STEADY.first(before.size), base.first(after.size)]
            files = [before, after].each_with_index.map do |times, at|
              redis = times.map { |time| time * 80 * (at.zero? ? 1.0 : slower) }
              write(File.join(dir, "#{at}.json"), larder[at], redis)
            end
            lab("compare", *files, *options)
          end
        end

        def write(path, larder, redis)
          document = SampleDocument.build
          document.chapters.first.measures = { "larder" => larder, "redis" => redis }.map do |name, samples|
            measure = SampleDocument.measure(samples, key: "stores/#{name}", base: ("stores/larder" if name == "redis"))
            measure.label = name
            measure
          end
          File.write(path, Reports::Data.new(document).to_s)
          path
        end

        def words(outcome)
          outcome.out.gsub(/\s+/, " ")
        end
      end
    end
  end
end
