# frozen_string_literal: true

# Writes a report in two forms: Markdown for people, JSON with every figure for programs. Judges by the numbers, and
# writes them so that none looks better than it is.

require "json"
require_relative "figure"
require_relative "parts"
require_relative "targets"

module Bench
  # The report of all parts that were measured.
  class Report
    # Raised whenever a field of the JSON changes its meaning or goes.
    SCHEMA = { name: "larder-bench", version: 1 }.freeze

    # @param results [Hash{String => Hash}] by part: "mode", "environment", "figures", "circumstances"
    def initialize(results)
      @results = results
      @figures = results.transform_values do |result|
        result.fetch("figures").map { |fields| Figure.new(**fields.transform_keys(&:to_sym)) }
      end
    end

    # @return [String]
    def markdown
      [heading, table, "## All figures", *Parts::ALL.keys.filter_map { |part| section(part) }].join("\n\n").concat("\n")
    end

    # @return [String]
    def json
      document = { schema: SCHEMA, targets: Targets::ALL.map { |target| judged(target) }, parts: @results }
      "#{JSON.pretty_generate(document)}\n"
    end

    # @return [Hash{String => Integer}] how many targets are "met", "falls short" or "not measured"
    def tally
      Targets::ALL.map { |target| verdict(target) }.tally
    end

    private

    def heading
      quick = @results.values.any? { |result| result["mode"] == "quick" }
      text = +"# Figures and their targets\n\nWritten by `bench/run`; [../README.md](../README.md) says how."
      text << " **A quick run: an impression, not evidence.**" if quick
      text << "\n\n" << tally.sort.map { |verdict, count| "#{count} #{verdict}" }.join(", ") << "."
      "#{text}\n\n#{environment}"
    end

    # Facts of a part alone, which its section has.
    OWN_FACTS = %w[load_average date commit].freeze
    private_constant :OWN_FACTS

    # Once, where all parts were measured under the same.
    def environment
      facts = @results.values.map { |result| result["environment"].except(*OWN_FACTS) }.uniq
      lines = facts.flat_map { |fact| fact.compact.map { |name, value| "- #{name.tr("_", " ")}: #{value}" } }.uniq
      [*lines, *versions].join("\n")
    end

    def versions
      said = @results.values.map { |result| result["circumstances"] }
      gems = said.map { |one| one["versions"] || {} }.reduce({}, :merge)
      servers = said.flat_map { |one| one["servers"] || [] }.uniq
      lines = []
      lines << "- gems: #{gems.map { |name, version| "#{name} #{version}" }.join(", ")}" unless gems.empty?
      yjit = said.filter_map { |one| one["yjit"] }.uniq
      lines << "- YJIT: #{yjit.join(" and ")}" unless yjit.empty?
      lines << "- servers: #{servers.join(", ")}" unless servers.empty?
      lines
    end

    def table
      rows = Targets::ALL.map do |target|
        found = found_for(target)
        "| #{target.what} | #{target.sense == :least ? "≥" : "≤"} #{Rounding.separated(target.bound.to_s)} | " \
          "#{found ? written(found, target.rounding) : "-"} | #{verdict(target)} |"
      end
      ["| what | target | measured (rounds from … to) | |", "|---|---|---|---|", *rows].join("\n")
    end

    def found_for(target)
      target.measured(@figures[target.part])
    end

    def verdict(target)
      found = found_for(target)
      return "not measured" unless found

      target.met?(found.median) ? "met" : "**falls short**"
    end

    def judged(target)
      found = found_for(target)
      { what: target.what, part: target.part, figure: target.figure, sense: target.sense, bound: target.bound,
        measured: found&.median, low: found&.low, high: found&.high, verdict: verdict(target).delete("*") }
    end

    def written(figure, toward = :nearest)
      text = Rounding.text(figure.median, toward)
      return text unless figure.low && figure.high

      "#{text} (#{Rounding.text(figure.low)} to #{Rounding.text(figure.high)})"
    end

    def section(part)
      figures = @figures[part]
      return unless figures

      result = @results[part]
      load, date, commit = result["environment"].values_at(*OWN_FACTS)
      facts = ["#{result["mode"].capitalize} run#{" of #{date}" if date}", ("commit #{commit}" if commit),
               "load #{load} at its start"].compact
      missing = (result.dig("circumstances", "not measured") || {}).map { |name, why| "Not measured: #{name}: #{why}" }
      rows = figures.map { |figure| "| #{figure.name} | #{written(figure)} | #{figure.unit} |" }
      ["### #{part}: #{Parts::ALL.fetch(part)}", "#{facts.join(", ")}.", *missing,
       ["| figure | median (range) | unit |", "|---|---|---|", *rows].join("\n")].join("\n\n")
    end
  end
end
