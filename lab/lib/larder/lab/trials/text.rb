# frozen_string_literal: true

# Owns the report of a trial for people: a table for each group, the published figures beside, what follows in words.

require_relative "../reports/figures"
require_relative "../reports/prose"
require_relative "../reports/table"
require_relative "comparison"
require_relative "published"

module Larder
  module Lab
    module Trials
      # Text for a terminal.
      class Text
        include Reports::Prose

        Figures = Reports::Figures
        OPERATIONS = { "compressors" => %w[compress decompress], "serializers" => %w[serialize deserialize] }.freeze
        # Terminals from this width also get what is left out on others.
        WIDE = 112

        # @param results [Results]
        # @param terminal [Terminal]
        def initialize(results, terminal:)
          @results = results
          @plan = results.plan
          @terminal = terminal
          @room = room_of(terminal)
        end

        # @return [String]
        def to_s
          "#{[*to_sections, section("Environment", environment)].compact.join("\n\n")}\n"
        end

        private

        def to_sections
          [header, *@plan.groups.map { |group| group_section(group) }, section("Not measured", not_measured)]
        end

        def title
          "larder-lab #{@plan.kind}"
        end

        def header
          facts = ["#{@plan.rounds} rounds, each in fresh processes",
                   "blocks of #{format("%g", @plan.seconds)} s or more", "seed #{@plan.seed}"]
          [@terminal.paint(title, :bold), *indent(wrap(facts.join(", ")))].join("\n")
        end

        def group_section(group)
          comparison = Comparison.new(@results, group)
          return unless comparison.base

          raw = @results.size(comparison.base, group).raw
          size = "#{Figures.thousands(raw)} bytes#{" by Marshal" if @plan.kind == "serializers"}"
          section("#{@plan.titles.fetch(group)} (#{size})", table(group, comparison) + words(group, comparison))
        end

        def table(group, comparison)
          shown = columns(comparison).select { |column| column[:always] || @terminal.width >= WIDE }
          table = Reports::Table.new(:left, *shown.map { |column| column[:align] || :right })
          table.row("", *shown.map { |column| column[:title] })
          comparison.ranking("round trip").each do |name|
            table.row(label(name, group), *shown.map { |column| column[:cell].call(name, @results.size(name, group)) })
          end
          table.lines(width: @room)
        end

        def columns(comparison)
          there, back = OPERATIONS.fetch(@plan.kind)
          rate = ->(operation) { ->(name, _) { Figures.rate(comparison.median(name, operation)) } }
          [{ title: "bytes", cell: ->(_, size) { Figures.thousands(size.bytes) }, always: true },
           { title: "smaller", cell: ->(_, size) { times(size.raw.fdiv(size.bytes)) } },
           { title: "#{there} i/s", cell: rate[there], always: true },
           { title: "#{back} i/s", cell: rate[back], always: true },
           { title: "round trip i/s", cell: rate["round trip"] },
           { title: "times #{comparison.base}", cell: ->(name, _) { relative(name, comparison) }, align: :left,
             always: true },
           { title: "cold ms", cell: ->(name, _) { cold(name, comparison) } }]
        end

        def times(factor)
          "#{format("%.2f", factor)}×"
        end

        def relative(name, comparison)
          name == comparison.base ? "1" : Figures.ratio(comparison.ratio(name, "round trip"))
        end

        def cold(name, comparison)
          seconds = OPERATIONS.fetch(@plan.kind).sum { |operation| comparison.median(name, "cold #{operation}") || 0.0 }
          Figures.significant(seconds * 1e3)
        end

        def words(group, comparison)
          [*likeness_note(group), *wire(comparison), *published(group, comparison)]
        end

        def label(name, group)
          "#{name}#{" *" unless @results.size(name, group).keeps}"
        end

        def likeness_note(group)
          return [] if @results.measured(group).all? { |name| @results.size(name, group).keeps }

          ["* brings back a likeness, not the value: Hashes for records, text for times"]
        end

        # Where it pays to compress.
        def wire(comparison)
          return [] unless @plan.kind == "compressors"

          lines = comparison.ranking("round trip").filter_map do |name|
            limit = comparison.pays_below(name)
            "#{name} up to #{Figures.significant(limit / 1e9)} Gbit/s" if limit
          end
          return [] if lines.empty?

          ["", "Compressing, sending and decompressing beats sending what there is:", *lines.map { |line| "  #{line}" }]
        end

        def published(group, comparison)
          return [] unless group == "books"

          known = @plan.kind == "compressors" ? Published::COMPRESSORS : Published::SERIALIZERS
          there = OPERATIONS.fetch(@plan.kind).first
          operation = @plan.kind == "compressors" ? there : "round trip"
          lines = known.filter_map { |name, figures| beside(name, figures, comparison, operation) }
          lines.empty? ? [] : ["", *wrap("Beside the published figures (#{Published::SOURCE}):"), *lines]
        end

        def beside(name, figures, comparison, operation)
          here = comparison.median(name, operation) or return
          first, second = figures
          rate = @plan.kind == "compressors" ? second : first
          size = "#{Figures.thousands(first)} bytes, " if @plan.kind == "compressors" && first
          "  #{name.ljust(20)} #{size}#{operation} #{rate || "not given"} i/s there, #{Figures.rate(here)} here"
        end

        def not_measured
          items(@results.rejected.map do |name, group, error|
            "#{name} on #{group}: #{"void, " if error.is_a?(Voided)}#{error.message}"
          end)
        end

        def environment
          facts = @results.environment
          machine = [facts[:cpu], "#{facts[:cores]} cores", facts[:kernel]].compact.join(", ")
          items([facts[:ruby], machine, @results.versions.map { |name, version| "#{name} #{version}" }.join(", ")])
        end
      end
    end
  end
end
