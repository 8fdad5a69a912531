# frozen_string_literal: true

require_relative "../bench/stats"
require_relative "lines"

module Larder
  module Lab
    module Advice
      # Seconds of a call. `measured` has weights of measured calls by row and block, `added` are seconds besides them.
      Cost = Struct.new(:measured, :added) do
        def +(other) = Cost.new(measured.merge(other.measured) { |_, one, two| one + two }, added + other.added)

        def *(other) = Cost.new(measured.transform_values { |weight| weight * other }, added * other)
      end

      # Computes the seconds of a call with a {Choice} that a run has measured, under the circumstances of a {Question}:
      # what was measured on this machine, and what the network adds.
      class Model
        def initialize(plan, samples, findings)
          @samples = samples
          @findings = findings
          @blocks = plan.blocks.to_h { |block| [[block.heading, *block.axes.values], block] }
          @seconds = Hash.new { |all, at| all[at] = Bench::Stats.seconds(samples.of(*at)) }
          @ratios = {}
        end

        # @return [Array<Choice>] those whose reads and writes were measured
        def choices
          codecs = @blocks.keys.map { |_, *names| names }.uniq
          @choices ||= (@findings.rows & Stores.names).product(codecs).filter_map do |row, names|
            choice = Choice.new(row, *names)
            choice if blocks(choice).all? { |block| block && @findings.seconds(row, block) }
          end
        end

        # @return [Integer] bytes of the value in the store
        def bytes(choice) = @findings.figure(choice.store, blocks(choice).last, "bytes")

        # @return [Float] bytes of all that is cached
        def needed(choice, question)
          @most ||= choices.map { |each| bytes(each) }.max
          question.size * bytes(choice).fdiv(@most)
        end

        # @return [Array(Cost, Cost)] of a read and a write
        def calls(choice, question)
          sent = question.bandwidth ? 8.0 * bytes(choice) / question.bandwidth : 0.0
          added = choice.facts.remote? ? question.rtt + sent : 0.0
          blocks(choice).map { |block| Cost.new({ [choice.store, block.key] => 1.0 }, added) }
        end

        # @return [Cost] the mean of a write and its reads
        def mean(read, write, question) = (write + (read * question.reads)) * (1.0 / (question.reads + 1))

        def seconds(cost) = cost.measured.sum { |at, weight| weight * @seconds[at] } + cost.added

        # @return [Bench::Stats::Estimate] of the seconds of one, divided by those of the other
        def ratio(cost, other) = @ratios[[cost, other]] ||= Bench::Stats.ratio(series(cost), series(other))

        private

        # The blocks of a read and a write; nil where one was not chosen.
        def blocks(choice) = %w[read write].map { |heading| @blocks[[heading, choice.serializer, choice.compressor]] }

        # Turns as they would have been with the network: those of the same session, pass and copy are added up.
        def series(cost)
          parts = cost.measured.map { |at, weight| [turns(at), weight] }
          shared = parts.map { |turns, _| turns.keys }.inject(:&)
          Bench::Series.new(shared.map do |session, pass, copy|
            seconds = parts.sum { |turns, weight| weight * turns[[session, pass, copy]] } + cost.added
            Bench::Samples::Turn.new(session: session, pass: pass, copy: copy, seconds: seconds)
          end)
        end

        def turns(at)
          (@turns ||= {})[at] ||= @samples.of(*at).turns.to_h do |turn|
            [[turn.session, turn.pass, turn.copy], turn.seconds]
          end
        end
      end
    end
  end
end
