# frozen_string_literal: true

# Builds the chapter of an advice: sentences, tables, and the lines to paste.

require_relative "../suite_report/chapter"
require_relative "machines"

module Larder
  module Lab
    module Advice
      # The chapter of a suite, with an advice in place of the ratios to one row.
      class Chapter < SuiteReport::Chapter
        TITLE = "Advice: store, serializer, compressor"
        LEAD = "Which store, serializer and compressor suit this value and this network?"
        # The fastest choices, which are shown besides the best of each store; and equals that are named.
        SHOWN = 8
        NAMED = 4
        SUMS = "Sums of what was measured: a hit is a read of the file; a miss is a read of the server and a write " \
               "of the file. Other machines see a change after that time, and at most after the other, whatever fails."
        EACH = "Each by itself, and the nearest of those tried: 1, 2, 5, 10 and so on. A change counts where the " \
               "advice is shown to be slower in a way that matters, or must not be chosen."
        private_constant :TITLE, :LEAD, :SHOWN, :NAMED, :SUMS, :EACH

        # @param run see {SuiteReport::Chapter}
        # @param question [Question]
        # @param environment [Hash{Symbol=>Object}]
        def initialize(*run, question:, environment:)
          super(*run, environment: environment)
          @question = question
          @ranking = Ranking.new(question, Model.new(@plan, @samples, @findings))
          @constraints = @ranking.constraints
          @best = @ranking.best if @samples.map(&:session).uniq.size >= Bench::Verdict::LEAST_SESSIONS
          @machines = Machines.new(@ranking)
        end

        # @return [Document::Chapter]
        def to_chapter = super.tap { |chapter| chapter.title, chapter.lead = TITLE, LEAD }

        private

        def failed? = super || @best.nil?

        def conclusions
          return ["Nothing could be measured."] unless @findings.base
          return ["Nothing is advised: #{nothing}."] unless @best

          against = @constraints.against(@best).map { |each| "What speaks against it: #{each.reason}." }
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
            .filter_map { |words, choices| format(words, named(choices)) if choices.any? }
        end

        def named(choices)
          more = "; and #{choices.size - NAMED} more" if choices.size > NAMED
          "#{choices.first(NAMED).join("; ")}#{more}"
        end

        # The fastest of those that something speaks against.
        def aside
          fastest = (@ranking.model.choices - @ranking.candidates).min_by { |choice| @ranking.seconds(choice) }
          return if fastest.nil? || @ranking.seconds(fastest) >= @ranking.seconds(@best)

          "#{fastest} would take #{time(@ranking.seconds(fastest))} a call, but: " \
            "#{@constraints.against(fastest).first.reason}."
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

        def layered? = @machines.any? && @machines.best != @machines.ways.first

        def sections
          return [absences].compact unless @findings.base
          return [left_out, axes, absences, software].compact unless @best

          [section("Ranking", ranking, headline: true),
           (section("Several machines", arrangements, headline: true) if @machines.any?),
           section("Where the advice changes", changes, headline: true),
           section("To paste", lines, Document::Prose.new(text: about_lines), headline: true),
           left_out, axes, absences, software].compact
        end

        def axes = super&.tap { |section| section.folded = true }

        def ranking
          first = @ranking.choices.group_by(&:store).values.map(&:first)
          usual = @ranking.choices.select { |choice| choice.serializer == "default" }
          rows = @ranking.choices & [*@ranking.choices.first(SHOWN), *first, *usual, @best]
          behind = rows - @ranking.candidates
          Document::Table.build(columns: columns("a call", "times #{@best}", "read", "write", "bytes"),
                                rows: rows.map { |choice| row(choice, behind) }, notes: notes(rows, behind))
        end

        def columns(*titles)
          formats = { "bytes" => "integer", "times #{@best}" => "ratio" }
          optional = { "bytes" => 2, "read" => 1, "write" => 1 }
          [{ title: "" },
           *titles.map { |title| { title: title, format: formats.fetch(title, "seconds"), optional: optional[title] } }]
        end

        def row(choice, behind)
          calls = %w[read write].map { |call| @ranking.model.call(call, choice, @question) }
          ["#{choice}#{" †" if behind.include?(choice)}", @ranking.seconds(choice),
           choice == @best ? "1" : @findings.shown(@ranking.ratio(choice, @best)),
           *calls.map { |cost| @ranking.model.seconds(cost) }, @ranking.model.bytes(choice)]
        end

        def notes(rows, behind)
          more = @ranking.choices.size - rows.size
          ["#{Bench::Verdict::MARKS[:alike]}: #{Bench::Verdict::EXPLAINED}. A store without codecs is as it comes.",
           ("†: something speaks against it, see below." if behind.any?),
           ("Choices that are not shown: #{more}." if more.positive?)].compact
        end

        def arrangements
          rows = @machines.ways.map do |way|
            calls = [way.read, way.write].map { |cost| @ranking.model.seconds(cost) }
            [way.title, @machines.seconds(way), *calls, way.seen, way.bound]
          end
          Document::Table.build(columns: columns("a call", "read", "write", "seen after", "at most"), rows: rows,
                                notes: [SUMS])
        end

        def changes
          rows = @ranking.flips.map do |flip|
            [flip.field.option, @question.said(flip.field.key), flip.change, flip.choice.to_s]
          end
          return Document::Prose.new(text: "No other bandwidth, round trip, size or number of reads alone does.") if
            rows.empty?

          Document::Table.build(columns: ["", "is", "if", "the advice is"].map { |title| { title: title } }, rows: rows,
                                notes: [EACH])
        end

        def lines
          gems = [*("larder" if layered? || @question.user_sessions), *own.gems,
                  *("redis" if setting.include?("REDIS_URL"))].uniq
          Document::Code.new(language: "ruby",
                             text: "# Gemfile\n#{gems.map { |gem| "gem \"#{gem}\"\n" }.join}" \
                                   "# config/environments/production.rb\n#{setting}")
        end

        def setting
          store = layered? ? own.in_front(messages: way.messages, seconds: way.bound) : own.store
          @question.user_sessions ? store + own.sessions(@question) : store
        end

        def way = @machines.best

        def own
          @own ||= Lines.new(@best, bytes: @constraints.needed(@best))
        end

        def about_lines
          redis = "A Redis for a cache needs maxmemory and maxmemory-policy allkeys-lru, so one with jobs will not do."
          other = "memcached passes on no messages: REDIS_URL is a Redis or Valkey."
          sessions = "The Redis of the sessions needs maxmemory-policy noeviction."
          measured = ["Measured: #{@best.store} on this machine", ("without Larder in front of it" if layered?),
                      ("without signatures and checksums of codecs" if @best.codecs.any?)].compact.join(", ")
          ["#{measured}.", (redis if @best.facts.gems == ["redis"]), (other if layered? && @best.facts.messages.nil?),
           (sessions if setting.include?("SESSIONS_REDIS_URL"))].compact.join(" ")
        end

        def left_out
          found = @ranking.model.choices.flat_map { |choice| @constraints.against(choice) }.group_by(&:reason)
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
