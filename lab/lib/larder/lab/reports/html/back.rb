# frozen_string_literal: true

require_relative "../figures"
require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # The end of the page: the machine in full, and how to read what stands above.
        class Back
          NAMES = { "ruby" => "Ruby", "yjit" => "YJIT", "kernel" => "Kernel", "cpu" => "Processor", "cores" => "Cores",
                    "governor" => "Frequency governor", "memory_bytes" => "Memory", "file_system" => "File system",
                    "load_average" => "Load before the run", "time" => "Time", "versions" => "Versions" }.freeze

          # What a reader has to know: terms, and what they mean.
          READING = <<~TEXT.split("\n\n").to_h { |entry| entry.tr("\n", " ").split(" = ", 2) }.freeze
            Dots and lines = The large dot is the median of all rounds, the line through it its interval: where the true
            median lies in 95 of 100 such runs. Of fewer than six rounds it is their range, which holds the true median in 93
            of 100 (five rounds), 87 (four) or 75 (three). The small dots below are the rounds themselves, each a fresh
            process.

            19.1 (18.2–20.0) = A value with its interval. Ratios are taken within a round, where a slow minute hits both
            sides, and then summarized.

            ≈ and noise = Where a contender is measured twice, as if it were two, what the two differ by is noise. A ratio
            that does not clear it is marked ≈: no difference is shown. That is a result, too. Whether two lines of a chart
            overlap does not decide it; ratios within rounds do.

            Scales = On a logarithmic scale equal distances are equal ratios. A scale that does not begin at 0 makes small
            differences look large: read its numbers.

            Larder = stands out by colour, a heavier type and an unbroken line. No colour says anything that is not said
            without it.

            Not measured = What could not be had is a row that says why. A wrong value read back makes a row invalid.

            Warnings = Conditions that make the figures less reliable: other load, too few samples, rounds far apart. Read
            them before the figures.

            All figures = Each chart has its figures in a table below it. `--json FILE` keeps every raw sample, and
            `larder-lab report FILE --html PAGE` makes this page again.
          TEXT
          private_constant :NAMES, :READING

          # @param document [Document]
          def initialize(document)
            @document = document
          end

          # @return [Markup::Raw]
          def to_html
            terms = READING.map { |term, words| tag(:div, tag(:dt, term), tag(:dd, Markup.words(words))) }
            Markup.join(machine, part("reading", "How to read it", tag(:dl, terms, class: "reading")))
          end

          private

          def tag(...)
            Markup.tag(...)
          end

          def part(id, title, content)
            tag(:section, tag(:h2, title, id: "#{id}-title"), content, id: id, aria_labelledby: "#{id}-title")
          end

          def machine
            facts = @document.environment.compact.merge("larder_lab" => @document.version)
            rows = facts.map do |name, value|
              tag(:tr, tag(:th, NAMES.fetch(name) { name.tr("_", "-").capitalize }, scope: "row"),
                  tag(:td, value(name, value), class: "text"))
            end
            table = tag(:table, tag(:caption, "What the system told of itself", class: "unseen"), tag(:tbody, rows))
            part("machine", "Where it was measured",
                 tag(:div, table, class: "scroll machine", tabindex: 0, role: "region", aria_label: "The machine"))
          end

          def value(name, value)
            case value
            when Hash then value.map { |key, each| "#{key} #{value("", each)}" }.join(", ")
            when Array then value.map { |each| value("", each) }.join(", ")
            when Numeric then name.end_with?("_bytes") ? Figures.bytes(value) : value
            else value
            end
          end
        end
      end
    end
  end
end
