# frozen_string_literal: true

# Results of the matrix, as a text table or as JSON.

require "json"

module House
  # Prints cells and their results.
  class MatrixTable
    FACTS = { stack: "stack", compiler: "compiler", level: "level", under: "under" }.freeze
    private_constant :FACTS

    # @param cells [Array<House::MatrixCell>] in the order of the rows
    # @param results [Array<House::Job::Result>]
    def initialize(cells, results)
      by_name = results.to_h { |result| [result.job.name, result] }
      @rows = cells.map { |cell| [cell, by_name.fetch(cell.name)] }
    end

    # @return [String]
    def text
      lines = [["cell", *FACTS.values, "result", "passed", "failed", "skipped", "seconds"]]
      lines += @rows.map { |cell, result| line(cell, result) }
      widths = lines.transpose.map { |column| column.map(&:size).max }
      table = lines.map { |words| aligned(words, widths) }
      skipped = @rows.select { |_, result| result.skipped? }.map { |cell, result| "  #{cell.name}: #{result.note}" }
      [*table, *(["", "Skipped:", *skipped] unless skipped.empty?), "", summary].join("\n")
    end

    # @return [String] one object with all cells
    def json
      JSON.pretty_generate(cells: @rows.map { |cell, result| hash(cell, result) }, summary: summary)
    end

    private

    def line(cell, result)
      counts = result.skipped? ? ["", "", ""] : result.counts.to_a.map(&:to_s)
      [cell.name, *FACTS.keys.map { |fact| cell.facts.fetch(fact, "") }, word(result), *counts,
       format("%.0f", result.seconds)]
    end

    # Numbers to the right.
    def aligned(words, widths)
      numbers = words.size - 4
      words.zip(widths).each_with_index.map { |(text, width), i| i < numbers ? text.ljust(width) : text.rjust(width) }
           .join("  ").rstrip
    end

    def hash(cell, result)
      { name: cell.name, **cell.facts, result: word(result), **result.counts.to_h, seconds: result.seconds.round(1),
        note: result.note }.compact
    end

    def word(result)
      return "skipped" if result.skipped?

      result.failed? ? "FAILED" : "passed"
    end

    def summary
      words = @rows.map { |_, result| word(result) }
      tests = @rows.sum { |_, result| result.counts.passed }
      "#{words.count("passed")} cells passed, #{words.count("FAILED")} failed, #{words.count("skipped")} skipped; " \
        "#{tests} tests passed"
    end
  end
end
