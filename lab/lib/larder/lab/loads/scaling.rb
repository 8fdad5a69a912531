# frozen_string_literal: true

require_relative "crew"
require_relative "load"
require_relative "mix"

module Larder
  module Lab
    module Loads
      # Reads, and reads with some writes, of keys that all share: by more and more threads of one process, then by more
      # and more processes with a store of their own each.
      #
      # Job: thread_counts and process_counts, how many callers; mixes, see {Mix}; seconds of each.
      class Scaling < Load
        Loads.register("scaling", self)

        # Seconds in which all callers hear of a start.
        NOTICE = 0.02

        # Forks while nothing of a store is loaded.
        # @return [void]
        def prepare
          @crew = Crew.new(job["process_counts"].max.to_i, job)
        end

        private

        # Seconds for what the lab itself takes.
        OWN = 0.03
        private_constant :OWN

        def measure
          emit("own", seconds: Mix.own(OWN))
          contender.clear
          Mix.fill(store)
          by_threads
          by_processes
        ensure
          @crew.dismiss
        end

        def by_threads
          each_step("threads", job["thread_counts"]) do |count, mix|
            start = now + NOTICE
            threads = Array.new(count) do |number|
              Thread.new { Mix.new(store, mix, number).run(start, job["seconds"]) }
            end
            threads.map { |thread| thread.value.to_h.transform_keys(&:to_s) }
          end
        end

        def by_processes
          return if job["process_counts"].empty?

          @crew.ask(job["process_counts"].max, do: "open", endpoint: job["endpoint"]&.merge("joined" => true))
          each_step("processes", job["process_counts"]) do |count, mix|
            @crew.ask(count, do: "mix", mix: mix, start: now + NOTICE, seconds: job["seconds"])
          end
        end

        def each_step(kind, counts)
          counts.each do |count|
            job["mixes"].each do |mix|
              GC.start
              callers = yield count, mix
              check(callers)
              emit("block", callers: kind, count: count, mix: mix, each: callers.map { |one| one.except("wrong") })
            end
          end
        end

        def check(callers)
          key, found = callers.filter_map { |one| one["wrong"] }.first
          wrong!(key, found, Mix::VALUES[key.last]) if key
        end
      end
    end
  end
end
