# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # Random calls to the store and to Rails' MemoryStore: results, notifications and errors must be the same.
  class SameAsMemoryStoreTest < StoreCase
    NAMES = ["a", :b, ["c", 1], { d: 1 }, "é", "with space", 7].freeze
    VALUES = [nil, false, true, 0, -1.5, "", "text", "ü", "\xFF".b, :sym, [1, [nil]], { "k" => [:v] }, 2**70].freeze

    # What Rails does not say the answer of: these stores return what they have at hand, and count what has expired
    # but was not swept yet as there or as not there.
    UNTOLD = [:write_multi, :delete, :delete_multi].freeze

    # A call as both stores get it: a method, its arguments, and a block's value.
    Call = Struct.new(:name, :arguments, :options, :block) do
      def on(cache)
        passed = arguments.map(&:dup) + (options.empty? ? [] : [options.dup])
        answer = block_value? ? cache.public_send(name, *passed) { block } : cache.public_send(name, *passed)
        answer unless UNTOLD.include?(name)
      end

      def block_value?
        name.start_with?("fetch")
      end
    end

    # Makes calls from a seed.
    class Calls
      def initialize(seed)
        @random = Random.new(seed)
      end

      def next
        send([:read, :read, :write, :write, :fetch, :exist?, :delete, :read_multi, :write_multi, :fetch_multi,
              :delete_multi].sample(random: @random))
      end

      # @return [Numeric] seconds to travel, mostly none
      def pause
        @random.rand < 0.2 ? @random.rand(1..40) : 0
      end

      private

      def one_of(list)
        list.sample(random: @random)
      end

      def some_names
        NAMES.sample(@random.rand(0..4), random: @random)
      end

      def options(*allowed)
        choices = { namespace: [nil, "n", "m"], version: [1, 2], expires_in: [nil, 10, 30], unless_exist: [true, false],
                    force: [true], skip_nil: [true], compress: [true], race_condition_ttl: [5] }
        allowed.select { @random.rand < 0.25 }.to_h { |name| [name, one_of(choices[name])] }
      end

      def read
        Call.new(:read, [one_of(NAMES)], options(:namespace, :version))
      end

      def write
        Call.new(:write, [one_of(NAMES), one_of(VALUES)],
                 options(:namespace, :version, :expires_in, :unless_exist, :compress))
      end

      def fetch
        Call.new(:fetch, [one_of(NAMES)],
                 options(:namespace, :version, :expires_in, :force, :skip_nil, :race_condition_ttl), one_of(VALUES))
      end

      def exist?
        Call.new(:exist?, [one_of(NAMES)], options(:namespace, :version))
      end

      def delete
        Call.new(:delete, [one_of(NAMES)], options(:namespace))
      end

      def read_multi
        Call.new(:read_multi, some_names, options(:namespace, :version))
      end

      def write_multi
        Call.new(:write_multi, [some_names.to_h { |name| [name, one_of(VALUES)] }], options(:namespace, :expires_in))
      end

      def fetch_multi
        Call.new(:fetch_multi, some_names, options(:namespace, :version, :expires_in, :force, :skip_nil),
                 one_of(VALUES))
      end

      def delete_multi
        Call.new(:delete_multi, [some_names], options(:namespace))
      end
    end

    (1..8).each do |seed|
      test "500 random calls answer and announce the same, seed #{seed}" do
        freeze_time
        calls = Calls.new(seed)
        larder = new_store(namespace: "n", expires_in: 50)
        memory = ActiveSupport::Cache::MemoryStore.new(namespace: "n", expires_in: 50)

        500.times do |number|
          call = calls.next
          expected, actual = [memory, larder].map { |cache| outcome_of_call(call, cache) }
          assert_equal expected, actual, "call #{number}: #{call.inspect}"
          travel_to(Time.now + calls.pause)
        end
      end
    end

    private

    # @return [Array] the answer and what was announced. MemoryStore asks itself exist? within a write.
    def outcome_of_call(call, cache)
      answer = nil
      events = events_of { answer = call.on(cache) }
      events.reject! { |event| event.name.include?("exist?") } if call.name == :write
      [answer, events.map { |event| [event.name, event.payload.except(:store)] }]
    end
  end
end
