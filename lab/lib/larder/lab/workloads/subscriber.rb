# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Hits while somebody listens: every read makes an event with its payload, as monitoring has it.
      class Subscriber < Workload
        SEEN = Pass.new(key: "hit", title: "hit, one subscriber", reading: true, clears: false, fills: :block).freeze
        ALL = Pass.new(key: "all", title: "hit, all events", reading: true, clears: false, fills: :block).freeze
        EVENT = "cache_read.active_support"
        HIT_EVENT = "cache_fetch_hit.active_support"
        # What each pass listens to.
        EVENTS = { SEEN => EVENT, ALL => /\Acache_.*\.active_support\z/ }.freeze

        named "subscriber", "Hits with a subscriber, one thread",
              "fetch of keys that are there, while one subscriber counts the hits that #{EVENT} tells of: of that " \
              "event only, and of all events of the cache, as monitoring listens."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          EVENTS.keys
        end

        # Each call must have sent the event of a hit. Listening begins after the filling, whose reads are misses.
        # @return [Block]
        def run(pass, laps)
          @heard = 0
          super.tap do |block|
            owed = (laps + warm_laps(laps)) * @slices.first.size
            block.wrong ||= ["events", @heard, owed] if keeps? && @heard != owed
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
          listening(pass) { super(store, keys, pass) }
        end

        def listening(pass, &calls)
          listener = lambda do |name, _started, _finished, _id, payload|
            @heard += 1 if name == EVENT && payload[:hit]
          end
          ActiveSupport::Notifications.subscribed(listener, EVENTS.fetch(pass), &calls)
        end

        # The bare events of a hit, as Rails sends them, with what the caller makes: the name and the options.
        def floor(keys, pass)
          heard = @heard
          listening(pass) do
            keys.each do |i|
              name = ["key", i]
              options = { expires_in: 5.minutes }
              ActiveSupport::Notifications.instrument(EVENT, { key: "key/#{i}", store: "none", **options }) do |payload|
                payload[:super_operation] = :fetch
                payload[:hit] = true
                VALUE.dup
              end
              next unless pass == ALL

              ActiveSupport::Notifications.instrument(HIT_EVENT, { key: name, store: "none", **options })
            end
          end
          @heard = heard
        end
      end
    end
  end
end
