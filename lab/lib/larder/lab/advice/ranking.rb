# frozen_string_literal: true

require_relative "../bench/stats"
require_relative "../bench/verdict"
require_relative "../reports/figures"
require_relative "lines"
require_relative "question"

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

      # Chooses the simplest of those choices that are not shown to be slower than the fastest, under the circumstances
      # of one question, and names the reasons against a choice, however fast it is.
      class Ranking
        # `about` is what of a choice it concerns; a `final` one excludes the choice, others put it behind.
        Objection = Struct.new(:about, :reason, :final)

        attr_reader :question, :model

        def initialize(question, model)
          @question = question
          @model = model
          @against = {}
          @costs = {}
        end

        # The {Objection}s to it.
        def against(choice)
          @against[choice] ||= begin
            final = [shared(choice), lost(choice), room(choice)].compact.first
            final ? [final] : [full(choice), slow(choice)].compact
          end
        end

        # @return [Array<Choice>] that may be chosen, the fastest first; those that something speaks against are last
        def choices
          @choices ||= model.choices.reject { |choice| against(choice).any?(&:final) }
                            .sort_by { |choice| [against(choice).size, seconds(choice)] }
        end

        # @return [Array<Choice>] those without an objection; if there is none, those with the fewest
        def candidates
          @candidates ||= choices.select { |choice| against(choice).size == against(choices.first).size }
        end

        # @return [Array<Choice>] the fastest, and those that are not shown to be slower in a way that matters
        def alike
          @alike ||= candidates.select do |choice|
            choice == candidates.first || Bench::Verdict.for_an_application(ratio(choice, candidates.first)) != :slower
          end
        end

        # @return [Choice, nil] the advice; nil if nothing may be chosen
        def best
          @best ||= alike.min_by do |choice|
            backplane = question.several? && choice.facts.messages.nil? ? 1 : 0 # another server
            [choice.codecs.size + backplane, seconds(choice)]
          end
        end

        def ratio(choice, other) = model.ratio(cost(choice), cost(other))

        def seconds(choice) = model.seconds(cost(choice))

        private

        def cost(choice) = @costs[choice] ||= model.mean(*model.calls(choice, question), question)

        def shared(choice)
          seen_by = choice.facts.seen_by
          return if question.shared_by == "nobody" || choice.facts.remote?
          return Objection.new(choice.store, "each process has entries of its own", true) if seen_by == "nobody"
          return unless question.several?

          Objection.new(choice.store, "each of the #{question.hosts} machines would have entries of its own, and " \
                                      "not see the writes and deletes of the others", true)
        end

        def lost(choice)
          wanted, survived = [question.survive, choice.facts.survives].map { |event| Question::EVENTS.index(event) }
          return if survived >= wanted

          server = " of the server's machine, unless it also writes to a disk" if choice.facts.remote?
          Objection.new(choice.store, "it is empty after a #{question.survive}#{server}", true)
        end

        def room(choice)
          limit = { memory: question.memory, disk: question.disk }[choice.facts.room]
          return unless beyond?(choice, limit)

          room = "#{Reports::Figures.bytes(limit)} of #{choice.facts.room}"
          Objection.new(choice.to_s, "all that is cached does not fit into #{room}", true)
        end

        def full(choice)
          Objection.new("file", "it grows until its entries are removed by hand", false) if choice.store == "file"
        end

        def slow(choice)
          return unless choice.facts.room == :disk && beyond?(choice, question.memory)

          Objection.new(choice.to_s, "entries that do not fit into memory are read from the disk, which was not " \
                                     "measured", false)
        end

        def beyond?(choice, limit) = limit && model.needed(choice, question) > limit
      end

      # Ways to use the server that is advised.
      class Machines
        # Seconds that a message takes, and after which people notice an old value.
        MESSAGE = 0.001
        NOTICED = 1.0
        # The store in front.
        FRONT = Choice.new("larder", "default", "default").freeze

        # `read` and `write` are {Cost}s; `seen` and `bound` the seconds after which other machines see a change,
        # usually and whatever fails; `messages` says whether there is a backplane.
        Way = Struct.new(:title, :read, :write, :seen, :bound, :messages)

        attr_reader :model

        def initialize(ranking)
          @question = ranking.question
          @model = ranking.model
          @remote = ranking.best
        end

        # @return [Boolean] whether several machines share the advised store, and Larder was measured
        def any? = !@remote.nil? && @remote.facts.remote? && @question.several? && @model.choices.include?(FRONT)

        # A miss is a read of the server and a write of the file; a write is one of both, and of the backplane.
        # @return [Array<Way>] the server alone, with Larder in front of it, and with a backplane
        def ways
          @ways ||= begin
            read, write = @model.calls(@remote, @question)
            hit, store = @model.calls(FRONT, @question)
            mixed = (hit * @question.hit_ratio) + ((read + store) * (1 - @question.hit_ratio))
            message = Cost.new({}, @question.rtt)
            [Way.new("#{@remote.store} alone", read, write, 0.0, 0.0),
             Way.new("Larder in front", mixed, write + store, @question.stale, @question.stale),
             Way.new("Larder, backplane", mixed, write + store + message, MESSAGE, @question.stale, true)]
          end
        end

        # @return [Boolean] whether old values are allowed for as long as a message takes
        def copies? = @question.stale > MESSAGE

        # Larder in front only if that is shown to be faster and old values are allowed; with a backplane as long as it
        # still is, unless old values are gone before people notice.
        def best
          return ways.first unless copies?

          front, told = ways.drop(1).map { |way| way if faster?(way) }
          (told if @question.stale > NOTICED) || front || ways.first
        end

        def seconds(way) = @model.seconds(cost(way))

        private

        def faster?(way) = Bench::Verdict.for_an_application(@model.ratio(cost(ways.first), cost(way))) == :slower

        def cost(way) = @model.mean(way.read, way.write, @question)
      end
    end
  end
end
