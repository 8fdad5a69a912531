# frozen_string_literal: true

require_relative "../figures"
require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # The end of the page: the machine in full, and how to read the report.
        class Back
          NAMES = { "ruby" => "Ruby", "yjit" => "YJIT", "kernel" => "Kernel", "cpu" => "Processor", "cores" => "Cores",
                    "governor" => "Frequency governor", "memory_bytes" => "Memory", "file_system" => "File system",
                    "load_average" => "Load before the run", "time" => "Time", "versions" => "Versions" }.freeze

          # What a reader has to know: terms, and what they mean.
          READING = <<~TEXT.split("\n\n").to_h { |entry| entry.tr("\n", " ").split(" = ", 2) }.freeze
            Dots and lines = The large dot is the median of all rounds. The line through it is the interval, which contains
            the true median in 95 of 100 such runs. With fewer than six rounds the interval is the range of the rounds, which
            contains the true median in 93 of 100 runs (five rounds), 87 (four) or 75 (three). The small dots below are the
            rounds. Each round runs in a new process.

            19.1 (18.2–20.0) = A value with its interval. A ratio is computed within each round, so that a slow minute
            affects both sides, and then summarized.

            ≈ and noise = The A/A control measures a contender a second time under another name. The difference between the
            two is noise. A ratio that does not exceed it is marked ≈: no difference is shown. Overlapping lines of a chart do
            not decide this; the ratios within rounds do.

            Sessions = In applications and stores each row has two processes in each session, and all take turns. The small
            dots are turns, and the interval of a ratio is Student's over the sessions (98 %), which is never narrower than
            the differences between the two processes of a row allow.

            Scales = On a logarithmic scale equal distances are equal ratios. A scale that does not begin at 0 makes small
            differences look large: read its numbers.

            Larder = is marked by colour, bold type and an unbroken line. No information depends on colour alone.

            Not measured = A contender that is not available has a row with the reason. A row is invalid if a wrong value was
            read.

            Warnings = Conditions that make the figures less reliable: other load, too few samples, rounds far apart. Read
            them before the figures.

            All figures = Each chart has its figures in a table below it. `--json FILE` saves every raw sample, and
            `larder-lab report FILE --html PAGE` generates this page again.
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
