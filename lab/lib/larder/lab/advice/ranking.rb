# frozen_string_literal: true

require_relative "../bench/verdict"
require_relative "../reports/figures"
require_relative "model"
require_relative "question"

module Larder
  module Lab
    module Advice
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

        # @return [Float] seconds of a call, the mean of a write and its reads
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
        private_constant :MESSAGE, :NOTICED

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

        # @return [Float] seconds of a call, the mean of a write and its reads
        def seconds(way) = @model.seconds(cost(way))

        private

        def faster?(way) = Bench::Verdict.for_an_application(@model.ratio(cost(ways.first), cost(way))) == :slower

        def cost(way) = @model.mean(way.read, way.write, @question)
      end
    end
  end
end
