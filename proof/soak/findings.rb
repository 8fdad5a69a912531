# frozen_string_literal: true

# Collects what a soak found, and prints it as text, as JSON, or for bin/proof.

require "json"

module Soak
  # Counts, notes and failures of one run.
  class Findings
    # @return [Hash{String => Integer}] in the order in which they came
    attr_reader :counts
    # @return [Array<String>]
    attr_reader :notes
    # @return [Array<String>]
    attr_reader :failures

    def initialize
      @counts = {}
      @notes = []
      @failures = []
    end

    # @return [Boolean]
    def passed?
      failures.empty? && counts.values.any?(&:positive?)
    end

    # @return [String]
    def text
      width = counts.values.map { |number| grouped(number).size }.max || 0
      [*counts.map { |label, number| "  #{grouped(number).rjust(width)}  #{label}" }, "",
       *notes.map { |note| "  #{note}" }, "",
       *failures.map { |failure| "  FAILED: #{failure}" },
       passed? ? "The soak holds." : "The soak FAILS."].join("\n")
    end

    # @return [String] as bin/proof reads it
    def proof
      [*counts.map { |label, number| "@ #{number} #{label}" }, *notes.map { |note| "@note #{note}" },
       *failures.map { |failure| "FAILED: #{failure}" }].join("\n")
    end

    # @return [String]
    def to_json(*)
      JSON.pretty_generate(passed: passed?, counts: counts, notes: notes, failures: failures)
    end

    private

    def grouped(number)
      number.to_s.gsub(/(\d)(?=(\d{3})+\z)/, "\\1,")
    end
  end
end
