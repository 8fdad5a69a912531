# frozen_string_literal: true

# Collects what a proof found: counts in the order in which they came, notes and failures; and prints it.

require "json"

module Proof
  # One proof's findings.
  class Report
    # `number` is an Integer or Float; `unit` is "" or what stands behind the number, as "%"
    Count = Struct.new(:label, :number, :unit)

    attr_reader :name, :title, :counts, :notes, :failures, :facts
    attr_accessor :seconds

    # @param name [String] as on the command line
    # @param title [String] what is claimed, in one sentence
    # @param facts [Hash{Symbol => String}] mode, commit, compiler, …
    def initialize(name, title, facts = {})
      @name = name
      @title = title
      @facts = facts
      @counts = []
      @notes = []
      @failures = []
      @seconds = 0
    end

    # Adds a count. Counts of one label add up, but for those with a unit: of these the last one stands.
    #
    # @param label [String] what was counted
    # @param number [Numeric]
    # @param unit [String]
    # @return [void]
    def count(label, number, unit: "")
      known = @counts.find { |count| count.label == label }
      return @counts << Count.new(label, number, unit) unless known

      known.number = unit.empty? ? known.number + number : number
    end

    # @param text [String] what a reader should know beside the counts
    # @return [void]
    def note(text)
      @notes << text unless @notes.include?(text)
    end

    # @param text [String] what did not hold
    # @return [void]
    def fail(text)
      @failures << text
    end

    # A proof that counted nothing has proved nothing.
    #
    # @return [Boolean]
    def passed?
      failures.empty? && counts.any? { |count| count.number.positive? }
    end

    # @return [String] "holds", "FAILS", or that there is nothing to judge by
    def verdict
      return "FAILS" unless failures.empty?

      passed? ? "holds" : "FAILS: nothing was counted"
    end

    # @return [String] for a terminal
    def text
      width = counts.map { |count| figure(count).size }.max || 0
      lines = ["#{name}: #{title}", ""]
      lines += counts.map { |count| "  #{figure(count).rjust(width)}  #{count.label}" }
      lines += ["", *notes.map { |note| "  Note: #{note}" }] unless notes.empty?
      lines += ["", *failures.map { |failure| "  FAILED: #{failure}" }] unless failures.empty?
      [*lines, "", "#{verdict}, #{facts[:mode]} run of #{duration}", ""].join("\n")
    end

    # @return [String] the same as a page
    def markdown
      rows = counts.map { |count| "| #{figure(count)} | #{count.label} |" }
      lines = ["# #{title}", "", "`bin/proof #{name}`: **#{verdict}**, in #{duration}."]
      lines += ["", "| | |", "|---:|---|", *rows]
      lines += ["", *notes.map { |note| "- #{note}" }] unless notes.empty?
      lines += ["", "What failed:", "", *failures.map { |failure| "- #{failure}" }] unless failures.empty?
      [*lines, "", facts.except(:mode).map { |key, value| "#{key}: #{value}" }.join("; "), ""].join("\n")
    end

    # @return [Hash] for machines
    def to_h
      { name: name, title: title, verdict: verdict, passed: passed?, seconds: seconds.round(1), facts: facts,
        counts: counts.map(&:to_h), notes: notes, failures: failures }
    end

    private

    def figure(count)
      number = count.number
      whole, part = (number.is_a?(Integer) ? number.to_s : format("%.1f", number)).split(".")
      grouped = [whole.gsub(/(\d)(?=(\d{3})+\z)/, "\\1,"), part].compact.join(".")
      count.unit.empty? ? grouped : "#{grouped} #{count.unit}"
    end

    def duration
      return format("%.1f s", seconds) if seconds < 60

      minutes, rest = seconds.round.divmod(60)
      minutes < 60 ? format("%d min %02d s", minutes, rest) : format("%d h %02d min", *minutes.divmod(60))
    end
  end
end
