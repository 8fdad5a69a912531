# frozen_string_literal: true

# The process that has machines measured: it forks one process or more for each, and gives them their orders. Started
# by {Runner}; never loaded by the command itself.

require_relative "../answers"
require_relative "../clock"
require_relative "../job"
require_relative "../loads/crew"
require_relative "counters"
require_relative "machine"

module Larder
  module Lab
    module Layered
      # Does what the job's "part" says.
      class Worker
        include Answers
        include Clock

        # Seconds in which all processes get an order.
        LEAD = 0.05

        # @return [void]
        def self.main
          new(*Job.take).run
        end

        # @return [void]
        def run
          answering do
            @crew = Loads::Crew.new(@job["processes"], @job, hand: Machine)
            { found: send(@job.fetch("part")) }
          ensure
            @crew&.dismiss
          end
        end

        private

        # The first machine is measured; the second, near the remote store, has written what it reads. The first point
        # twice, as code runs slowly for the first time.
        def calls
          first, *others = @job["points"]
          [{ **first, "name" => "warm-up" }, first, *others].to_h { |point| [point["name"], calls_at(point)] }
        end

        # Before it reads, the measured machine has heard of what was written.
        def calls_at(point)
          @crew.ask(2, do: "open", places: point["places"])
          @crew.ask(1, from: 1, do: "fill_calls", name: point["name"])
          sleep(point["rtt"] + LEAD)
          @crew.ask(1, do: "calls", name: point["name"]).first
        end

        # The first machine changes, the others read. Each remote store has all keys, and each machine begins with
        # copies, when it has heard of what the others wrote.
        def traffic
          @crew.ask(@job["processes"], do: "open", places: @job["places"])
          @job["processes"].times { |number| @crew.ask(1, from: number, do: "fill_traffic") }
          sleep(@job["trip"])
          @crew.ask(@job["processes"], do: "warm_traffic")
          { **load, ages: ages }
        end

        # All machines read and change.
        def fleet
          @crew.ask(@job["processes"], do: "open", places: @job["places"])
          @crew.ask(1, do: "fill_traffic")
          counters = Counters.new(@job["servers"].first)
          load.merge(connections: counters.connections, listeners: counters.listeners,
                     connection_bytes: counters.connection_bytes)
        end

        # The server counts while calls are counted.
        def load
          begun = now + LEAD
          from = begun + @job["warm_up"]
          to = from + @job["traffic"]
          counted = count_between(from, to)
          answers = @crew.ask(@job["processes"], do: "traffic", since: from, to: to, reads: @job["reads"],
                                                 changes: @job["changes"], threads: @job["threads"])
          { reads: answers.map { |answer| answer["reads"] }, changes: answers.sum { |answer| answer["changes"] },
            server: counted.value }
        end

        def count_between(from, to)
          Thread.new do
            before, after = [from, to].map do |time|
              sleep([time - now, 0].max)
              counts
            end
            after.to_h { |name, count| [name, count - before.fetch(name, 0)] }
          end
        end

        # Of all servers that have keys.
        def counts
          @job["servers"].map { |server| Counters.new(server).commands }
                         .inject { |sum, more| sum.merge(more) { |_, one, other| one + other } }
        end

        # How old answers were, of each machine but the first.
        def ages
          options = { expires_in: @job["expires_in"] }
          @crew.ask(1, do: "fill_watched", **options)
          start = now + LEAD
          to = start + @job["watching"]
          changes, *watched = @crew.ask(@job["processes"], do: "watching", start: start, to: to, rate: @job["rate"],
                                                           until_then: to + @job["settling"], **options)
          watched.map do |answer|
            changes["changes"].zip(answer["segments"]).flat_map { |made, seen| Watching.ages(made, seen) }
          end
        end
      end
    end
  end
end

Larder::Lab::Layered::Worker.main if $PROGRAM_NAME == __FILE__
