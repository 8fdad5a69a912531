# frozen_string_literal: true

# Builds the report chapter of `larder-lab session-stats`: a table for each number of sessions, how times grow with
# it, what was loaded and its size, Larder's targets, warnings, and the raw samples.

require_relative "../loads/report"
require_relative "goals"
require_relative "options"
require_relative "room"
require_relative "stores"
require_relative "times"

module Larder
  module Lab
    module SessionStats
      # The chapter.
      class Report < Loads::Report
        KEY = "session-stats"
        TITLE = "Statistics of sessions: what it costs to ask"
        # Questions that have a chart over sizes, and sentences.
        TOLD = %w[logged-in active-5m].freeze

        private

        def registry
          Stores
        end

        def lead
          "How many sessions are active, and who is logged in, asked of Larder and of SQL. Sessions were last used " \
            "within a day, evenly spread, and each answer was compared with the right one."
        end

        def own_facts
          ["#{list(sizes)} sessions", "blocks of #{Figures.duration(plan.settings[:seconds])}"]
        end

        def list(sizes)
          sizes.map { |size| Figures.thousands(size) }.join(" and ")
        end

        def sizes
          plan.settings[:sizes]
        end

        def times
          @times ||= Times.new(results)
        end

        def room
          @room ||= Room.new(results)
        end

        def sections
          [*sizes.map { |size| of_size(size) }, *charts, section("Loading, and the room that it takes", room.table),
           Goals.new(times, room, results).section]
        end

        def of_size(size)
          D::Section.new(title: "#{Figures.thousands(size)} sessions", blocks: [times.table(size)],
                         headline: size == sizes.max)
        end

        def charts
          return [] if sizes.one?

          [section("How times grow with the number of sessions", TOLD.map { |name| curves(name) })]
        end

        def curves(question)
          D::Curves.build(
            title: words(question), sentence: growth(question),
            x: { title: "sessions", scale: "log", format: "integer" },
            y: { title: "µs", scale: "log", format: "micros" },
            series: once.map { |name| { label: name, points: points(name, question), highlight: highlight?(name) } }
          )
        end

        def words(question)
          capitalized(Times::QUESTIONS.fetch(question))
        end

        def points(name, question)
          sizes.map { |size| [size, times.of(question, size).median(name)["value"]] }
        end

        def growth(question)
          grown = once.map do |name|
            first, last = points(name, question).values_at(0, -1).map(&:last)
            "#{Figures.significant(last / first)} (#{name})"
          end
          few, many = sizes.values_at(0, -1).map { |size| Figures.thousands(size) }
          "#{words(question)}: how many times as long it takes with #{many} sessions as with " \
            "#{few}: #{grown.join(", ")}."
        end

        def conclusions
          [*TOLD.map { |question| conclusion(question, sizes.max) }, use(sizes.max), noise]
        end

        def conclusion(question, size)
          ratios = times.of(question, size)
          beside = (once - [ratios.base]).map { |name| "#{name} #{said(ratios.cell(name))}" }
          "#{words(question)}, of #{Figures.thousands(size)} sessions: #{ratios.base} " \
            "#{duration(ratios, ratios.base)}#{"; #{beside.join(", ")}" if beside.any?}."
        end

        def said(cell)
          return "no different as far as is shown (#{Loads::Ratios.not_shown(cell)})" if cell["same"]

          "#{Reports::Cells.text(cell, "ratio")} times as long"
        end

        def use(size)
          ratios = times.of(Times::USE, size)
          "Noting a use takes #{once.map { |name| "#{duration(ratios, name)} (#{name})" }.join(", ")}."
        end

        def duration(ratios, name)
          Figures.duration(ratios.median(name)["value"])
        end

        def noise
          noise = sizes.product(Times::QUESTIONS.keys).filter_map { |size, name| times.of(name, size).noise }.max
          noise && "Noise: two measurements of #{results.twins.last} lay up to #{Figures.percent(noise)} apart."
        end

        def measures
          [*times.measures, *room.measures]
        end

        def own_warnings
          [fewer, Lab::Warnings.far_apart(times.blocks)]
        end

        def fewer
          left_out = Options::DEFAULT.fetch(:sizes) - sizes
          "Not measured: #{list(left_out)} sessions. --sizes #{left_out.join(",")} does." if left_out.any?
        end
      end
    end
  end
end
