# frozen_string_literal: true

# Lists what a run of `larder-lab layered` measures, and where each machine of a measurement is.

require_relative "arrangement"
require_relative "fleet"

module Larder
  module Lab
    module Layered
      # Where machines of two regions find a remote store. key; title; arrangement: of {Arrangement}; remotes: "one" for
      # all regions, or one for "each".
      Topology = Struct.new(:key, :title, :arrangement, :remotes, keyword_init: true) do
        # @return [Boolean] has each region its own remote store?
        def each?
          remotes == "each"
        end
      end

      # What a run is to do. remotes, rtts, rounds: see {Options}; seconds: for each kind of call; traffic, watching:
      # seconds of each; expires: local_expires_in without a backplane; expires_in: of entries of two regions; reads,
      # changes: a second; fleet: the one that is computed; simulated: one that is small enough to be run, nil: none is.
      Plan = Struct.new(:remotes, :rtts, :rounds, :seconds, :traffic, :watching, :expires, :expires_in, :reads,
                        :changes, :keys, :skew, :bytes, :fleet, :simulated, :directory, :seed, keyword_init: true) do
        # @return [Array<Float>] round trips that are a network
        def networks
          rtts.select(&:positive?)
        end

        # @return [Float, nil] within a region
        def near
          networks.first
        end

        # @return [Float, nil] between regions
        def far
          networks.last
        end

        # @return [Boolean] are there two round trips for them?
        def regions?
          networks.size > 1
        end

        # @return [Array<Float>] round trips of machines that read and change: three at most
        def watched
          known = networks.empty? ? rtts : networks
          [known.first, known[known.size / 2], known.last].uniq
        end

        # @return [Array<Task>] all rounds, in an order that the seed repeats; what is measured once is among them
        def tasks
          random = Random.new(seed)
          once = single_tasks.shuffle(random: random)
          (1..rounds).flat_map do |round|
            [*call_tasks(round), *once.shift((once.size.to_f / (rounds - round + 1)).ceil)].shuffle(random: random)
          end
        end

        private

        def call_tasks(round)
          remotes.product(Arrangement::NAMES).map do |remote, arrangement|
            Task.new(part: "calls", remote: remote, arrangement: arrangement, round: round)
          end
        end

        def single_tasks
          return [] unless remotes.include?("redis")

          traffic = watched.product(Arrangement::NAMES).map do |rtt, arrangement|
            Task.new(part: "traffic", remote: "redis", arrangement: arrangement, rtt: rtt, round: 1)
          end
          regions = (regions? ? Plan::TOPOLOGIES : []).map do |topology|
            Task.new(part: "regions", remote: "redis", arrangement: topology.arrangement, topology: topology, round: 1)
          end
          [*traffic, *regions, *([Task.new(part: "fleet", remote: "redis", round: 1)] if simulated)]
        end
      end

      class Plan
        # Of two regions.
        TOPOLOGIES = [
          Topology.new(key: "one-bare", title: "one, alone", arrangement: "bare", remotes: "one"),
          Topology.new(key: "one-copies", title: "one, Larder", arrangement: "copies", remotes: "one"),
          Topology.new(key: "one-backplane", title: "one, + backplane", arrangement: "backplane", remotes: "one"),
          Topology.new(key: "each-bare", title: "each, alone", arrangement: "bare", remotes: "each"),
          Topology.new(key: "each-backplane", title: "each, + backplane", arrangement: "backplane",
                       remotes: "each")
        ].freeze
        # local_expires_in of machines that are told of changes.
        LONGER = 60.0
      end

      # One visit. part: what is measured; topology: of a part about regions.
      Task = Struct.new(:part, :remote, :arrangement, :rtt, :topology, :round, keyword_init: true) do
        # @return [Array] what visits of all rounds have in common
        def place
          [part, remote, arrangement, rtt, topology&.key]
        end

        # @return [String] for the line of progress
        def to_s
          what = topology ? topology.title : [remote, arrangement].compact.join(", ")
          "#{part}: #{what}#{" at #{format("%g", rtt * 1e3)} ms" if rtt}"
        end
      end
    end
  end
end
