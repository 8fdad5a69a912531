# frozen_string_literal: true

require_relative "../suite_report/chapter"
require_relative "ranking"

module Larder
  module Lab
    module Advice
      # The chapter of a suite, with an advice in place of the ratios to one row: sentences, tables, and lines to paste.
      class Chapter < SuiteReport::Chapter
        TITLE = "Advice: store, serializer, compressor"
        LEAD = "Which store, serializer and compressor suit this value and this network?"
        # The fastest choices, which are shown besides the best of each store; and equals that are named.
        SHOWN = 8
        NAMED = 4
        CALLS = %w[read write].map { |title| { title: title, format: "seconds" } }.freeze
        BYTES = { title: "bytes", format: "integer" }.freeze
        SUMS = "Sums of what was measured: a hit is a read of the file; a miss is a read of the server and a write " \
               "of the file. Other machines see a change after that time, and at most after the other, whatever fails."

        def initialize(*run, question:, environment:)
          super(*run, environment: environment)
          @question = question
          @ranking = Ranking.new(question, Model.new(@plan, @samples, @findings))
          @best = @ranking.best if sessions >= Bench::Verdict::LEAST_SESSIONS
          @machines = Machines.new(@ranking)
        end

        def to_chapter = super.tap { |chapter| chapter.title, chapter.lead = TITLE, LEAD }

        private

        def failed? = super || @best.nil?

        def conclusions
          return super unless @findings.base
          return ["Nothing is advised: #{nothing}."] unless @best

          against = @ranking.against(@best).map { |each| "What speaks against it: #{each.reason}." }
          ["Take #{@best}: #{time(@ranking.seconds(@best))} a call, the mean of a write and " \
           "#{@question.said(:reads)} reads.", *against, *equals, aside, (machines if @machines.any?)].compact
        end

        def nothing
          return "no store that could be advised was measured" if @ranking.model.choices.empty?
          return "something speaks against each choice, see below" if @ranking.choices.empty?

          "no difference is shown by fewer than #{Bench::Verdict::LEAST_SESSIONS} sessions"
        end

        # A choice that could not be told from it is not one that is as good.
        def equals
          unknown, alike = (@ranking.alike - [@best]).partition do |choice|
            Bench::Verdict.of(@ranking.ratio(choice, @best)) == :unknown
          end
          { "No difference that matters is shown from: %s. It is the simplest of these, and then the fastest." => alike,
            "This machine was too busy to tell it from: %s. Measure again when nothing else runs." => unknown }
            .reject { |_, choices| choices.empty? }.map do |words, choices|
            more = "; and #{choices.size - NAMED} more" if choices.size > NAMED
            format(words, "#{choices.first(NAMED).join("; ")}#{more}")
          end
        end

        # The fastest of those that something speaks against.
        def aside
          fastest = (@ranking.model.choices - @ranking.candidates).min_by { |choice| @ranking.seconds(choice) }
          return if fastest.nil? || @ranking.seconds(fastest) >= @ranking.seconds(@best)

          "#{fastest} would take #{time(@ranking.seconds(fastest))} a call, but: " \
            "#{@ranking.against(fastest).first.reason}."
        end

        def machines
          unless layered?
            why = "copies may be old for a moment, and --stale is #{@question.said(:stale)}"
            why = "a call is not shown to be faster" if @machines.copies?
            return "Larder in front of it is not advised: #{why}."
          end

          "Put Larder in front of it, with#{"out" unless way.messages} a backplane: " \
            "#{time(@machines.seconds(way))} a call in place of #{time(@machines.seconds(@machines.ways.first))}, if " \
            "copies answer #{Figures.percent(@question.hit_ratio)} of the reads (--hit-ratio). Another machine sees " \
            "a change after #{time(way.seen)}, and after #{time(way.bound)} whatever fails."
        end

        def layered? = @machines.any? && way != @machines.ways.first

        def way = @machines.best

        def sections
          return [absences] unless @findings.base

          details = [left_out, axes.tap { |section| section&.folded = true }, absences, software]
          return details unless @best

          [section("Ranking", ranking),
           (section("Several machines", arrangements) if @machines.any?),
           section("To paste", lines, Document::Prose.new(text: about_lines)), *details]
        end

        def ranking
          first = @ranking.choices.group_by(&:store).values.map(&:first)
          usual = @ranking.choices.select { |choice| choice.serializer == "default" }
          rows = @ranking.choices & [*@ranking.choices.first(SHOWN), *first, *usual, @best]
          more = @ranking.choices.size - rows.size
          mark = "#{Bench::Verdict::MARKS[:alike]}: #{Bench::Verdict::EXPLAINED}"
          notes = ["#{mark}. A store without codecs is as it comes.",
                   ("†: something speaks against it, see below." if (rows - @ranking.candidates).any?),
                   ("Choices that are not shown: #{more}." if more.positive?)]
          Document::Table.new(columns: ["", ["a call", "seconds"], ["times #{@best}", "ratio"], *CALLS, BYTES],
                              rows: rows.map { |choice| row(choice) }, notes: notes.compact)
        end

        def row(choice)
          calls = @ranking.model.calls(choice, @question).map { |cost| @ranking.model.seconds(cost) }
          ratio = @findings.shown(@ranking.ratio(choice, @best)) unless choice == @best
          ["#{choice}#{" †" unless @ranking.candidates.include?(choice)}", @ranking.seconds(choice), ratio || "1",
           *calls, @ranking.model.bytes(choice)]
        end

        def arrangements
          rows = @machines.ways.map do |way|
            calls = [way.read, way.write].map { |cost| @ranking.model.seconds(cost) }
            [way.title, @machines.seconds(way), *calls, way.seen, way.bound]
          end
          columns = ["", ["a call", "seconds"], *CALLS, ["seen after", "seconds"], ["at most", "seconds"]]
          Document::Table.new(columns: columns, rows: rows, notes: [SUMS])
        end

        def lines
          gems = [*("larder" if layered?), *own.gems, *("redis" if setting.include?("REDIS_URL"))].uniq
          text = ["# Gemfile", *gems.map { |gem| "gem \"#{gem}\"" }, "# config/environments/production.rb", setting]
          Document::Code.new(text: text.join("\n"))
        end

        def setting = layered? ? own.in_front(messages: way.messages, seconds: way.bound) : own.store

        def own = Lines.new(@best, bytes: @ranking.model.needed(@best, @question))

        def about_lines
          redis = "A Redis for a cache needs maxmemory and maxmemory-policy allkeys-lru, so one with jobs will not do."
          other = "memcached passes on no messages: REDIS_URL is a Redis or Valkey."
          measured = ["Measured: #{@best.store} on this machine", ("without Larder in front of it" if layered?),
                      ("without signatures and checksums of codecs" if @best.codecs.any?)].compact.join(", ")
          ["#{measured}.", (redis if @best.facts.gems == ["redis"]),
           (other if layered? && @best.facts.messages.nil?)].compact.join(" ")
        end

        def left_out
          found = @ranking.model.choices.flat_map { |choice| @ranking.against(choice) }.group_by(&:reason)
          items = found.map { |reason, all| "#{all.map(&:about).uniq.join("; ")}: #{reason}" }
          section("What speaks against", Document::List.new(items: items)) if items.any?
        end

        def warnings
          assumed = @question.assumed
          [*super, ("Assumed, because it was not given: #{assumed.join(", ")}." if @best && assumed.any?)].compact
        end

        def time(seconds) = Figures.duration(seconds)
      end
    end
  end
end
