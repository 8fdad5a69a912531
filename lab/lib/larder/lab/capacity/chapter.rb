# frozen_string_literal: true

# Builds the report chapter of `larder-lab capacity`: for each kind of object how many were held, how much each takes,
# and whether a store respects its limit.

require_relative "../document"
require_relative "../reports"
require_relative "outcome"

module Larder
  module Lab
    # How many objects a store holds in a given room, and what they take.
    module Capacity
      # The chapter of `larder-lab capacity`.
      class Chapter
        # More than so many times the limit is said aloud.
        OVER = 1.1
        # The columns of a table.
        COLUMNS = [["store", "text", 0], ["objects", "integer", 0], ["B each", "number", 0], ["where", "text", 0],
                   ["taken", "bytes", 0], ["of limit", "percent", 0], ["disk", "bytes", 2], ["tmpfs", "bytes", 3],
                   ["server", "bytes", 2], ["own memory", "bytes", 3], ["evicts from", "integer", 1]].freeze

        # @param filled [Array<Filled>]
        # @param options [Options]
        # @param environment [Hash]
        def initialize(filled, options, environment)
          @filled = filled
          @options = options
          @environment = environment
          @outcomes = options.kinds.to_h { |kind| [kind, outcomes(kind)] }
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(
            key: "capacity", title: "Objects held in #{size}", facts: facts, conclusions: conclusions,
            lead: "Objects with distinct keys were written to each store, which was given #{size}, until it began to " \
                  "give up old ones, and a tenth more; then every one was looked for, and compared.",
            warnings: warnings, sections: @outcomes.map { |kind, outcomes| section(kind, outcomes) },
            measures: measured.flat_map(&:measures), details: details,
            failed: measured.empty? || @filled.any? { |filled| filled.state == :invalid }
          )
        end

        private

        def outcomes(kind)
          @options.contenders.map do |name|
            Outcome.new(name, kind, @filled.select { |each| each.task.kind == kind && each.task.contender == name })
          end
        end

        def measured
          @outcomes.values.flatten.select(&:measured?)
        end

        def size
          "#{@options.size / (1024 * 1024)} MiB"
        end

        def facts
          [@options.rounds == 1 ? "1 filling of each kind" : "#{@options.rounds} fillings of each kind",
           "up to #{Reports::Figures.thousands(@options.check)} objects looked for, of more a random sample",
           "seed #{@options.seed}"]
        end

        def section(kind, outcomes)
          Document::Section.new(title: Objects::KINDS.fetch(kind), blocks: [table(outcomes), *charts(kind, outcomes)])
        end

        def table(outcomes)
          columns = COLUMNS.map { |title, form, optional| { title: title, format: form, optional: optional } }
          rows = outcomes.map { |outcome| outcome.measured? ? outcome.cells(@options.size) : outcome.why_not }
          Document::Table.build(columns: columns, rows: rows, notes: notes)
        end

        def notes
          ["where: what grew by the objects; taken: by how much, all of its overhead included; disk: blocks of all " \
           "files, logs included; server: its memory, with that of its processes; evicts from: objects that had been " \
           "written when the first was missed."]
        end

        def charts(kind, outcomes)
          known = outcomes.select(&:measured?)
          return [] if known.empty?

          [chart(outcomes, "Objects held", "objects", "integer", held_sentence(kind, known), &:held),
           chart(outcomes, "Bytes an object", "bytes", "number", bytes_sentence(kind, known), &:bytes_each)]
        end

        def chart(outcomes, title, unit, form, sentence)
          rows = outcomes.map do |outcome|
            estimate = outcome.measured? ? yield(outcome) : nil
            next { label: outcome.name, note: outcome.reason || "nothing grew by half of its objects" } unless estimate

            { label: outcome.name, highlight: outcome.name.start_with?("larder"), **estimate }
          end
          Document::Intervals.build(title: title, sentence: sentence, x: { title: unit, format: form }, rows: rows)
        end

        def held_sentence(kind, known)
          most, least = known.minmax_by { |outcome| -outcome.held[:value] }
          "Of #{Objects::KINDS.fetch(kind)}, #{most.name} holds the most in #{size}, #{count(most)}; #{least.name} " \
            "the fewest, #{count(least)}."
        end

        def bytes_sentence(kind, known)
          weighed = known.select(&:bytes_each)
          return "What an object takes is not known." if weighed.empty?

          least, most = weighed.minmax_by { |outcome| outcome.bytes_each[:value] }
          object = "the object#{" as Marshal writes it" if kind == "hash"}"
          "Each takes from #{bytes(least)} B (#{least.name}) to #{bytes(most)} B (#{most.name}), of which " \
            "#{Reports::Figures.thousands(weighed.first.payload)} B are #{object}."
        end

        def count(outcome)
          Reports::Figures.thousands(outcome.held[:value].round)
        end

        def bytes(outcome)
          Reports::Figures.significant(outcome.bytes_each[:value])
        end

        def conclusions
          [*larder, exceeding, unlimited].compact
        end

        # What Larder holds, as a share of what the best of the others does.
        def larder
          @outcomes.filter_map do |kind, outcomes|
            own, others = outcomes.select { |each| each.measured? && each.limited? }
                                  .partition { |each| each.name.start_with?("larder") }
            best = others.max_by { |each| each.held[:value] }
            next unless own.any? && best

            ratio = own.first.held[:value].fdiv(best.held[:value])
            "Of #{Objects::KINDS.fetch(kind)}, #{own.first.name} holds #{count(own.first)} in #{size}, " \
              "#{Reports::Figures.significant(ratio)} times as many as #{best.name}, the best of the others " \
              "that keep a limit."
          end
        end

        def exceeding
          over = measured.select { |each| each.limited? && each.share(@options.size).to_f > OVER }.group_by(&:name)
          return "Every store that has a limit took at most a tenth more than it." if over.empty?

          worst = over.map do |name, outcomes|
            "#{name} (#{Reports::Figures.percent(outcomes.map { |each| each.share(@options.size) }.max)})"
          end
          "More than a tenth above the limit: #{worst.join(", ")}."
        end

        def unlimited
          names = measured.reject(&:limited?).map(&:name).uniq
          "No limit of its own was met by #{names.join(", ")}." if names.any?
        end

        def warnings
          measured.filter_map do |outcome|
            next if outcome.refused.zero?

            "#{outcome.name}, #{outcome.kind}: #{outcome.refused} writes were refused."
          end
        end

        def details
          fillings = @filled.map do |filled|
            { **filled.task.to_h, state: filled.state.to_s, reason: filled.reason, **(filled.found || {}) }
          end
          { environment: @environment, size: @options.size, seed: @options.seed, fillings: fillings }
        end
      end
    end
  end
end
