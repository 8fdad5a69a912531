# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Hits while somebody listens: every read makes an event with its payload, as monitoring has it.
      class Subscriber < Workload
        SEEN = Pass.new(key: "hit", title: "hit, one subscriber", reading: true, clears: false, fills: :block).freeze
        EVENT = "cache_read.active_support"

        named "subscriber", "Hits with a subscriber, one thread",
              "fetch of keys that are there, while one subscriber counts the hits that #{EVENT} tells of."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          [SEEN]
        end

        # Each call must have told of a hit. Listening begins after the filling, whose reads are misses.
        # @return [Block]
        def run(pass, laps)
          @heard = 0
          super.tap do |block|
            block.wrong ||= ["events", @heard, block.calls] if keeps? && @heard != block.calls
          end
        end

        private

        def slices(count, _threads)
          [0...count]
        end

        def fill
          @slices.first.each { |i| contender.store.write(["key", i], VALUE, expires_in: 5.minutes) }
        end

        def visit(store, keys, pass)
          listener = lambda do |_name, _started, _finished, _id, payload|
            @heard += 1 if payload[:hit]
          end
          ActiveSupport::Notifications.subscribed(listener, EVENT) { super(store, keys, pass) }
        end
      end
    end
  end
end
