# frozen_string_literal: true

# One process of a machine, forked by a worker: opens its store and does what it is told.

require "active_support"
require "active_support/cache"
require_relative "arrangement"
require_relative "calls"
require_relative "traffic"
require_relative "watching"

module Larder
  module Lab
    module Layered
      # A hand of a {Loads::Crew}. What differs between the processes of a crew is a list, with an item for each.
      class Machine
        # @param job [Hash{String=>Object}] of the worker
        # @param number [Integer] of the process
        def initialize(job, number)
          @job = job
          @number = number
        end

        # @param order [Hash{String=>Object}] "do" => a method, and its keywords
        # @return [Hash] the answer
        def serve(order)
          public_send(order["do"], **order.except("do").transform_keys(&:to_sym))
        end

        # @param places [Array<Hash>] see {Arrangement.open}
        # @return [Hash]
        def open(places:)
          @store = Arrangement.open(places[@number])
          {}
        end

        # @return [Hash]
        def fill_calls(name:)
          Calls.fill(@store, name, @job["bytes"])
          {}
        end

        # @return [Hash{String=>Float}] see {Calls#measure}
        def calls(name:)
          Calls.new(@store, name, @job["bytes"], @job["seconds"]).measure
        end

        # @return [Hash]
        def fill_traffic
          Traffic.fill(@store, keys: @job["keys"], bytes: @job["bytes"])
          {}
        end

        # @return [Hash]
        def warm_traffic
          Traffic.warm(@store, keys: @job["keys"])
          {}
        end

        # @param reads [Array<Float>] a second
        # @param changes [Array<Float>] a second
        # @return [Hash{String=>Object}] see {Traffic#run}
        def traffic(since:, to:, reads:, changes:, threads:)
          Traffic.new(@store, keys: @job["keys"], skew: @job["skew"], bytes: @job["bytes"],
                              seed: @job["seed"] + (1000 * @number))
                 .run(from: since, to: to, reads: reads[@number], changes: changes[@number], threads: threads)
        end

        # The first machine changes, the others watch.
        # @return [Hash{String=>Array}] changes or segments, by key
        def watching(start:, to:, until_then:, rate:, expires_in:)
          watching = watcher(expires_in)
          return { segments: watching.watch(to: until_then) } unless @number.zero?

          { changes: watching.change(start: start, to: to, rate: rate, seed: @job["seed"]) }
        end

        # @return [Hash]
        def fill_watched(expires_in:)
          watcher(expires_in).begin
          {}
        end

        private

        def watcher(expires_in)
          Watching.new(@store, source: @job["dir"], keys: @job["watched"], expires_in: expires_in)
        end
      end
    end
  end
end
