# frozen_string_literal: true

# Computes the calls of several machines that share a server, without and with Larder in front of it.

require_relative "ranking"

module Larder
  module Lab
    module Advice
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
