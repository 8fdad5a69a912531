# frozen_string_literal: true

# Both halves of a run: the own tests of an application, and its life. Collects what a report needs.

require_relative "catalogue"
require_relative "comparison"
require_relative "life"
require_relative "suite"

module Foreign
  # One application on both sides.
  class Run
    # @return [Hash{String => Integer}] counts by label, in the order in which they came
    attr_reader :counts

    # @return [Array<String>] what a reader should know
    attr_reader :notes

    # @return [Array<String>] what did not hold
    attr_reader :failures

    # @param application [Application]
    # @param parts [Array<String>] "tests", "life"
    # @param groups [Array<String>, nil] of its tests; nil: all
    # @param minutes [Numeric] of its life
    # @param seed [Integer]
    # @param pause [Numeric] see Life
    # @param calm [Boolean] see Life
    # @param record [String, nil] see Life
    def initialize(application, parts:, groups:, minutes:, seed:, pause: 0, calm: false, record: nil)
      @application = application
      @parts = parts
      @groups = groups || application.class::TESTS.keys
      @minutes = minutes
      @seed = seed
      @pause = pause
      @calm = calm
      @record = record
      @counts = {}
      @notes = []
      @failures = []
    end

    # @return [Run] self
    def run
      @application.prepare
      @notes << "#{@application.class::NAME} #{@application.commit}, Ruby #{RUBY_VERSION}"
      test if @parts.include?("tests")
      live if @parts.include?("life")
      self
    end

    # @return [Boolean]
    def passed?
      failures.empty? && counts.values.any?(&:positive?)
    end

    # @return [String] the answer first
    def text
      width = counts.values.map { |number| number.to_s.size }.max || 0
      [answer, "", *counts.map { |label, number| "  #{number.to_s.rjust(width)}  #{label}" }, "",
       *notes.map { |note| "  #{note}" }, *("" if failures.any?),
       *failures.map { |failure| "  FAILED: #{failure}" }].join("\n")
    end

    # @return [String] as bin/proof reads it
    def proof
      [*counts.map { |label, number| "@ #{number} #{label}" }, *notes.map { |note| "@note #{note}" },
       *failures.map { |failure| "FAILED: #{failure}" }].join("\n")
    end

    private

    def answer
      name = @application.class::NAME.capitalize
      return "#{name} works on Larder as on its own stores." if passed?

      failures.empty? ? "Nothing was compared." : "#{name} does not work on Larder as on its own stores."
    end

    def count(label, number)
      @counts[label] = @counts.fetch(label, 0) + number
    end

    def test
      copies = Life::SIDES.to_h do |side|
        [side, @application.copy("test-#{side}", side: side, files: test_files(side),
                                 sessions: side == "larder" ? @application.class::SESSIONS : {})]
      end
      @groups.each do |group|
        first = compare(group, copies)
        tests = first.differences.map(&:test)
        differ = tests.empty? ? [] : first.confirmed(compare(group, copies, only: tests))
        record(first, differ)
      end
    end

    def test_files(side)
      File.join(@application.directory, "test-files-#{side}")
    end

    def compare(group, copies, only: nil)
      Comparison.new(group, *copies.map do |side, copy|
        @application.class::SUITE.new(@application, copy, side).run(group, only: only)
      end)
    end

    def record(comparison, differ)
      count("tests that ran on both sides", comparison.tests)
      count("tests that fail on its own stores", comparison.failures(:default))
      count("tests that fail on Larder", comparison.failures(:larder))
      count("tests that differ in two runs", differ.size)
      @notes << comparison.line
      differ.each do |one|
        reason = @application.class::EXPECTED.find { |pattern, _| pattern.match?(one.test) }&.last
        text = "#{one.test}: #{one.default} on its own stores, #{one.larder} on Larder"
        next @notes << "#{text}, as expected: #{reason}" if reason

        @failures << "#{text}: #{one.message.lines.first.to_s.strip}"
      end
    end

    def live
      life = Life.new(@application, minutes: @minutes, seed: @seed, pause: @pause, calm: @calm, record: @record)
      life.run
    ensure
      life.findings.counts.each { |label, number| count(label, number) }
      @notes.concat(life.diary)
      @notes.concat(life.findings.passing.map { |text| "differed, and was the same when asked again: #{text}" })
      @failures.concat(life.findings.different)
    end
  end
end
