# frozen_string_literal: true

# Writes the orders of each visit: which machines there are, where they find their servers, and how long it takes.

require_relative "plan"

module Larder
  module Lab
    module Layered
      # Jobs for {Worker}.
      class Jobs
        # Keys whose age is watched, and how often each changes in a second.
        WATCHED = 8
        RATE = 5.0
        # Seconds that all machines have for seeing a change, beside the time that copies are used.
        SETTLING = 0.4
        # Threads that read, of a machine.
        THREADS = 5
        # Seconds of the simulation.
        SIMULATION = { warm_up: 1.5, traffic: 3.0 }.freeze

        # @param plan [Plan]
        # @param places [Places]
        def initialize(plan, places)
          @plan = plan
          @places = places
        end

        # @param task [Task]
        # @param dir [String]
        # @return [Hash{Symbol=>Object}]
        # @raise [Unavailable] if a server cannot be had
        def job(task, dir)
          { part: task.part == "regions" ? "traffic" : task.part, dir: dir, bytes: @plan.bytes, seed: @plan.seed,
            keys: @plan.keys, skew: @plan.skew, **send(task.part, task, dir) }
        end

        # @param task [Task]
        # @return [Float] seconds that it will take, about
        def seconds(task)
          case task.part
          when "calls" then 1.0 + @plan.rtts.sum { |rtt| (rtt * (task.arrangement == "bare" ? 20 : 12)) + 0.3 }
          when "fleet" then 2.0 + SIMULATION.values.sum
          else 1.3 + warm_up + @plan.traffic + @plan.watching + settling(task) + (10 * (task.rtt || @plan.far))
          end
        end

        private

        def calls(task, dir)
          points = @plan.rtts.map do |rtt|
            name = format("%gus", rtt * 1e6)
            { name: name, rtt: rtt,
              places: [rtt, 0.0].each_with_index.map do |each, machine|
                @places.place(task.arrangement, task.remote, each, path: "#{dir}/#{name}-#{machine}.larder",
                                                                   expires: Plan::LONGER)
              end }
          end
          { processes: 2, points: points, seconds: @plan.seconds }
        end

        # One machine changes, the other reads; both are as far from the remote store.
        def traffic(task, dir)
          places = Array.new(2) do |machine|
            @places.place(task.arrangement, "redis", task.rtt, path: "#{dir}/#{machine}.larder")
          end
          { places: places, servers: [@places.target("redis")], expires_in: nil, trip: task.rtt, **watched(task, 1) }
        end

        # One machine changes, one in the same region reads, and one in the other.
        def regions(task, dir)
          remotes = task.topology.each? ? %w[redis redis redis-2] : %w[redis redis redis]
          rtts = [@plan.near, @plan.near, task.topology.each? ? @plan.near : @plan.far]
          places = remotes.zip(rtts).each_with_index.map do |(remote, rtt), machine|
            @places.place(task.arrangement, remote, rtt, backplane: remote, path: "#{dir}/#{machine}.larder")
          end
          { places: places, servers: remotes.uniq.map { |remote| @places.target(remote) },
            expires_in: @plan.expires_in, trip: @plan.far, **watched(task, 2) }
        end

        def watched(task, readers)
          { processes: readers + 1, reads: [0.0, *Array.new(readers, @plan.reads)], threads: THREADS,
            changes: [@plan.changes, *Array.new(readers, 0.0)], warm_up: warm_up, traffic: @plan.traffic,
            watched: WATCHED, rate: RATE, watching: @plan.watching, settling: settling(task) }
        end

        def fleet(_task, dir)
          wanted = @plan.simulated
          processes = wanted.machines * wanted.workers
          arrangement = wanted.backplane ? "backplane" : "copies"
          places = Array.new(processes) do |number|
            @places.place(arrangement, "redis", wanted.rtt, path: "#{dir}/#{number / wanted.workers}.larder",
                                                            expires: wanted.expires)
          end
          { places: places, processes: processes, keys: wanted.keys, threads: wanted.threads, **SIMULATION,
            servers: [@places.target("redis")], reads: Array.new(processes, wanted.reads / processes),
            changes: Array.new(processes, wanted.changes / processes) }
        end

        # Until as many copies are there as there will be.
        def warm_up
          @plan.expires
        end

        def settling(task)
          SETTLING + (4 * (task.rtt || @plan.far || 0.0)) +
            { "bare" => 0.0, "copies" => @plan.expires, "backplane" => 0.0 }.fetch(task.arrangement) +
            (task.topology&.each? ? @plan.expires_in : 0.0)
        end
      end
    end
  end
end
