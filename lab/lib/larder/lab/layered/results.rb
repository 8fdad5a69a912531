# frozen_string_literal: true

# Keeps what visits have found.

require_relative "../histogram"
require_relative "../statistics"
require_relative "jobs"

module Larder
  module Lab
    module Layered
      # What a machine saw under traffic. times: a {Histogram}; reads: a second; hit_ratio: of what all read, nil if
      # they have no files; ages: how long changes were not seen, in seconds from when the write had returned, and from
      # when it began.
      Seen = Struct.new(:times, :reads, :hit_ratio, :ages, keyword_init: true) do
        # @param percent [Numeric]
        # @return [Float, nil] seconds since the write had returned
        def age(percent)
          percentile(ages.map(&:first), percent)
        end

        # @return [Float, nil] seconds since it began, in the middle
        def age_from_begin
          percentile(ages.map(&:last), 50)
        end

        private

        def percentile(values, percent)
          values.empty? ? nil : Statistics.percentile(values, percent)
        end
      end

      # By {Task}.
      class Results
        # @return [Plan]
        attr_reader :plan
        # @return [Hash]
        attr_reader :environment
        # @return [Hash{String=>String}] of servers
        attr_reader :versions

        # @param plan [Plan]
        # @param environment [Hash]
        def initialize(plan, environment)
          @plan = plan
          @environment = environment
          @versions = {}
          @found = Hash.new { |all, place| all[place] = [] }
          @errors = {}
        end

        # @param task [Task]
        # @param found [Hash{String=>Object}]
        # @return [void]
        def add(task, found)
          @found[task.place] << found
        end

        # @param task [Task] that is not visited again
        # @param error [Error]
        # @return [void]
        def reject(task, error)
          @errors[task.place] = [task, error]
        end

        # @return [Error, nil]
        def reason(task)
          @errors[task.place]&.last
        end

        # @return [Array<Array(Task, Error)>]
        def rejected
          @errors.values
        end

        # @param remote [String]
        # @param arrangement [String]
        # @param rtt [Float]
        # @param kind [String] of {Calls::KINDS}
        # @return [Array<Float>] seconds, one for each round
        def calls(remote, arrangement, rtt, kind)
          task = Task.new(part: "calls", remote: remote, arrangement: arrangement)
          @found.fetch(task.place, []).map { |found| found.fetch(format("%gus", rtt * 1e6)).fetch(kind) }
        end

        # @return [Seen, nil] by the machine that does not change anything
        def traffic(arrangement, rtt)
          task = Task.new(part: "traffic", remote: "redis", arrangement: arrangement, rtt: rtt)
          found = @found.fetch(task.place, []).first
          found && seen(found, 1, files: arrangement != "bare")
        end

        # @param topology [Topology]
        # @return [Array(Seen, Seen), nil] by the machine in the region of the change, and by the one in the other
        def regions(topology)
          task = Task.new(part: "regions", remote: "redis", arrangement: topology.arrangement, topology: topology)
          found = @found.fetch(task.place, []).first
          found && [1, 2].map { |machine| seen(found, machine, files: topology.arrangement != "bare") }
        end

        # @return [Array(Fleet, Hash), nil] the fleet of the simulation at the rates that were had, and what its Redis
        #   has counted
        def simulation
          found = @found.fetch(Task.new(part: "fleet", remote: "redis").place, []).first or return
          seconds = Jobs::SIMULATION[:traffic]
          reads = found["reads"].sum { |times| times["count"] } / seconds
          [plan.simulated.with(reads: reads, changes: found["changes"] / seconds),
           { hit_ratio: hit_ratio(found), reads: found["server"]["get"] / seconds,
             writes: found["server"]["set"].to_i / seconds, messages: found["server"]["publish"].to_i / seconds,
             pings: found["server"]["ping"].to_i / seconds,
             **found.slice("connections", "listeners", "connection_bytes").transform_keys(&:to_sym) }]
        end

        # @return [Hash{Symbol=>Object}] everything, as plain data
        def to_h
          { found: @found.map { |place, found| { place: place, found: found } },
            rejected: rejected.map { |task, error| { place: task.place, reason: error.message } } }
        end

        private

        def seen(found, machine, files:)
          times = Histogram.from_h(found["reads"][machine])
          Seen.new(times: times, reads: times.count / plan.traffic, hit_ratio: (hit_ratio(found) if files),
                   ages: found["ages"][machine - 1])
        end

        # Of all machines together: what they read, but for what the servers were asked for. Some calls begin before the
        # server's count and end in it.
        def hit_ratio(found)
          reads = found["reads"].sum { |times| times["count"] }
          return 0.0 if reads.zero?

          (1 - found["server"]["get"].to_i.fdiv(reads)).clamp(0.0, 1.0)
        end
      end
    end
  end
end
