# frozen_string_literal: true

# Builds the report chapter of an advice: the order of its sections, conclusions and warnings.

require_relative "../document"
require_relative "../reference"
require_relative "configuration"
require_relative "flips"
require_relative "ranking"
require_relative "sections/answer"
require_relative "sections/given"
require_relative "sections/machines"
require_relative "sections/times"
require_relative "sections/wire"
require_relative "tried"

module Larder
  module Lab
    module Advice
      # Puts together what was found out.
      class Report
        Figures = Reports::Figures
        # Rounds below which an interval is little more than a guess.
        FEW_ROUNDS = 5
        # Choices that are named as equal.
        MOST_NAMED = 4

        # @param options [Options]
        # @param parts [Parts]
        def initialize(options, parts)
          @options = options
          @parts = parts
          @ranking = Ranking.new(options.question, parts)
        end

        # @return [Configuration, nil] of the first choice; nil: there is none
        def configuration
          @configuration ||= @ranking.best && Configuration.new(
            @ranking.best, room: @ranking.constraints.needed(@ranking.best), trust: @options.question.trust
          )
        end

        # @param environment [Hash]
        # @param results [Rounds::Results, nil] of the configuration
        # @return [Document::Chapter]
        def chapter(environment, results)
          tried = Tried.new(@ranking, @ranking.best, results)
          Document::Chapter.new(
            key: "advise", title: "Advice: store, serializer, compressor", facts: facts, lead: lead,
            sections: @ranking.best ? sections(tried) : left_out,
            conclusions: @ranking.best ? conclusions : [nothing],
            warnings: [*warnings, tried.miss].compact, measures: measures, failed: @ranking.best.nil?,
            details: { environment: { **environment, versions: @parts.versions }, **details }
          )
        end

        private

        def lead
          "Parts of a call, measured on this machine with your value; round trips and bytes on the wire added for " \
            "servers. #{@parts.serializers.size} serializers, #{@parts.stores.size} stores."
        end

        def rounds
          @options.rounds == 1 ? "1 round" : "#{@options.rounds} rounds"
        end

        def facts
          ["#{rounds}, each in fresh processes",
           "blocks of #{format("%g", @options.seconds)} s or more", "seed #{@options.seed}"]
        end

        def given
          Sections::Given.new(@options.question, @options.payload_title, @parts).to_a
        end

        def sections(tried)
          [*given, *Sections::Times.new(@ranking).to_a, *wire_section, *machines.to_a,
           *Sections::Answer.new(@ranking, flips, configuration, tried).to_a]
        end

        def left_out
          items = @ranking.objections(final: true).map { |about, reason| "#{about}: #{reason}" }
          [*given, Document::Section.new(title: "Left out", blocks: [Document::List.new(items: items)])]
        end

        def nothing
          "Nothing can be advised: something speaks against every choice, see above. Ease one of the circumstances."
        end

        def flips
          @flips ||= Flips.new(@ranking)
        end

        # Larder before the choice, where several machines share that.
        def machines
          @machines ||= Sections::Machines.new(Arrangements.new(@ranking), configuration)
        end

        def wire_section
          return [] unless wire

          title = "Compressors on a wire: #{remote.store} + #{remote.serializer}"
          [Document::Section.new(title: title, blocks: wire.blocks)]
        end

        # The first that is asked over a network, even if it must not be chosen: what the wire does is the same.
        def remote
          @remote ||= [*@ranking.choices, *@ranking.model.choices].find { |choice| choice.profile.remote? }
        end

        def wire
          return unless remote

          @wire ||= Sections::Wire.new(works.transform_values { |bytes, work| [bytes, work.value] },
                                       what: "a call", now: @options.question.bandwidth, intervals: method(:edge))
        end

        # Bytes and the time without the wire, by compressor.
        def works
          @works ||= @parts.compressors(remote.serializer).filter_map do |name|
            choice = Choice.new(remote.store, remote.serializer, name)
            next unless @ranking.model.fits?(choice)

            [name, [@ranking.model.bytes(choice), @ranking.model.work_mixed(remote.serializer, name, remote.store)]]
          end.to_h
        end

        # The bandwidth at which two are equal.
        def edge(one, other)
          (bytes, work), (others, other_work) = works.values_at(one, other)
          saved = other_work - work
          Figure.new(saved.values.map { |seconds| (bytes - others) * 8.0 / seconds })
        end

        def conclusions
          ["Take #{best}: #{per_call(best)} a call (#{interval(best)}), the mean of a write and " \
           "#{format("%g", @options.question.reads)} reads.",
           *objections, *machines.conclusions, ties, default, aside, nearest].compact
        end

        def best
          @ranking.best
        end

        def objections
          @ranking.constraints.against(best).map { |each| "What speaks against it: #{each.reason}." }
        end

        def mixed(choice)
          @ranking.model.mixed(choice)
        end

        def per_call(choice)
          Figures.duration(mixed(choice).value)
        end

        def interval(choice)
          estimate = mixed(choice).estimate
          "#{Figures.duration(estimate.low)} to #{Figures.duration(estimate.high)}"
        end

        def ties
          ties = @ranking.ties
          return if ties.empty?

          named = ties.first(MOST_NAMED).join("; ")
          more = ties.size > MOST_NAMED ? "; and #{ties.size - MOST_NAMED} more" : ""
          "No difference is shown between it and: #{named}#{more}. Choose among them by other reasons."
        end

        # What it gains over what one has who configured nothing.
        def default
          usual = @ranking.model.choices.find { |choice| choice.rails_default? && choice.store == best.store }
          return if usual.nil? || usual == best

          times = (mixed(usual) / mixed(best)).estimate
          "Rails' own Marshal and zlib in #{best.store} take #{Figures.significant(times.value)} times as long " \
            "(#{Figures.significant(times.low)} to #{Figures.significant(times.high)})."
        end

        # The fastest that was left out, and what for.
        def aside
          constraints = @ranking.constraints
          out = @ranking.model.choices.select { |choice| constraints.out?(choice) && @ranking.model.fits?(choice) }
          fastest = out.min_by { |choice| mixed(choice).value }
          return if fastest.nil? || mixed(fastest).value >= mixed(best).value

          reason = constraints.against(fastest).find(&:final).reason
          "#{fastest} would take #{per_call(fastest)} a call, but: #{reason}."
        end

        def nearest
          flip = flips.all.find(&:factor)
          return "No change of a number alone would change the answer." unless flip

          "The nearest change of the answer: #{flip.input} #{flip.change} (it is #{flip.now}) makes it #{flip.choice}."
        end

        def warnings
          assumed = @options.question.assumed.map(&:option) - ["--payload"]
          [("The value is an example: give your own with --payload." unless @options.question.given?(:payload)),
           ("Assumed, not said: #{assumed.join(", ")}." if assumed.any?),
           ("#{rounds}: intervals of so few are rough; --thorough takes seven." if
             @options.rounds < FEW_ROUNDS),
           ("--quick leaves out #{Options::SLOW.join(", ")}." if @options.quick?)].compact
        end

        def measures
          @parts.samples.map do |operation, name, seconds|
            Document::Measure.new(key: "advise/#{operation}/#{name}", label: "#{operation}, #{name}", unit: "seconds",
                                  better: "lower", samples: seconds, base: Reference::KEY)
          end
        end

        def details
          question = Fields::ALL.to_h { |field| [field.option, @options.question.said(field.key)] }
          choices = @ranking.choices.map do |choice|
            { choice: choice.to_s, seconds_a_call: mixed(choice).cell, bytes: @ranking.model.bytes(choice) }
          end
          { circumstances: question, value: @parts.nature, choices: choices }
        end
      end
    end
  end
end
