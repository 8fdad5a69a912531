# frozen_string_literal: true

require "active_support/core_ext/hash/indifferent_access"
require "active_support/core_ext/date_time/calculations"
require "support/store_case"

module Larder
  module Store
    # Wrong values of options, in the constructor and in every call. A call either answers as MemoryStore, or raises an
    # ArgumentError that names the option, the value and what it takes.
    class OptionsTest < StoreCase
      OBJECT = Object.new.freeze
      WORDS = ["5 minutes", "yes", "", :soon].freeze
      OTHERS = [[1], { a: 1 }, OBJECT, Float::NAN].freeze
      # Values that the constructor refuses.
      REFUSED = {
        persistent: ["no", 1, :memory],
        size: [{}, [], "lots", -1, 0, 1.5, true, OBJECT],
        max_size: [{}, "lots", -1],
        lock_timeout: [*WORDS, *OTHERS, 0, -1, 3601, true, Complex(1, 0)],
        raise_errors: ["yes", 1, :always],
        error_handler: ["puts", 5, true],
        max_key_size: ["250", 5, 1.5, true],
        coder: ["json", 5, OBJECT],
        serializer: [5, true, false, OBJECT, [:json], Class.new { def dump(_) = "" }.new],
        compressor: [5, true, false, OBJECT, [:gzip], Class.new { def deflate(_) = "" }.new],
        remote: ["redis://127.0.0.1:1/0", 5, { url: "redis://127.0.0.1:1/0" }],
        expires_in: [*WORDS, *OTHERS, true, false, Time.at(0), Complex(1, 0)],
        expire_in: [*WORDS, *OTHERS],
        expired_in: [*WORDS, *OTHERS],
        race_condition_ttl: [*WORDS, *OTHERS, true, false],
        namespace: [5, 1.5, true, [1], { a: 1 }, OBJECT],
        compress: ["yes", "no", 1, :gzip, OBJECT],
        compress_threshold: ["1KB", [1], { a: 1 }, true, Float::NAN],
        skip_nil: ["yes", 1],
        force: ["yes", 1],
        raw: ["yes", 1],
        unless_exist: ["yes", 1],
        single_flight: ["yes", 1, OBJECT],
        wait: [*WORDS, *OTHERS, -1, true],
        lease: [*WORDS, *OTHERS, 0, -1, true],
        stale_while_revalidate: [*WORDS, *OTHERS, 0, -1, true, false],
        stale_if_error: [*WORDS, *OTHERS, 0, -1, true, false],
        soft_timeout: [*WORDS, *OTHERS, 0, true],
        early_refresh: ["yes", 1, OBJECT],
        jitter: [*WORDS, *OTHERS, -0.1, 1.1, true],
        tags: [OBJECT, [nil], { a: 1 }, 1.5, Class]
      }.freeze
      # Values for calls: those, and some of options that calls alone have.
      IN_CALLS = REFUSED.slice(*Options.names(:call)).merge(
        expires_at: [*WORDS, *OTHERS, 5, 1.5, true, 5.minutes, Date.new(2030)],
        version: [Object, OBJECT, 5, [1], true]
      ).freeze
      # Options of Larder, which Rails' stores do not have.
      OWN = %i[single_flight wait lease stale_while_revalidate stale_if_error soft_timeout early_refresh jitter].freeze
      CALLS = {
        fetch: ->(store, options) { [store.fetch("new", options) { 1 }, store.fetch("new", options) { 2 }] },
        read: ->(store, options) { store.read("here", options) },
        write: ->(store, options) { [store.write("k", "v" * 2000, options), store.read("k")] },
        read_multi: ->(store, options) { store.read_multi("here", "b", **options) },
        write_multi: ->(store, options) { store.write_multi({ "a" => 1 }, options) && store.read("a") },
        fetch_multi: ->(store, options) { store.fetch_multi("here", "c", **options) { |name| name } },
        increment: ->(store, options) { store.increment("count", 2, **options) },
        decrement: ->(store, options) { store.decrement("count", 2, **options) },
        delete: ->(store, options) { [store.delete("here", options), store.read("here")] },
        delete_multi: ->(store, options) { store.delete_multi(["here", "b"], options) },
        delete_matched: ->(store, options) { store.delete_matched(/\Ano such/, options) && nil },
        exist?: ->(store, options) { store.exist?("here", options) }
      }.freeze

      REFUSED.each do |option, values|
        test "the constructor refuses wrong values of #{option}" do
          values.each do |value|
            error = assert_raises(::ArgumentError, "#{option}: #{value.inspect}") do
              ActiveSupport::Cache::LarderStore.new(path_of, option => value)
            end
            assert_includes error.message, option.inspect
            assert_includes error.message, value.inspect
            assert_match(/it takes|give|Did you mean/, error.message)
          end
        end
      end

      IN_CALLS.each do |option, values|
        on_both_paths "calls refuse wrong values of #{option}, or do what MemoryStore does" do
          values.product(CALLS.to_a).each do |value, (name, call)|
            own, rails = outcomes_of(call, option => value)
            place = "#{name} #{option}: #{value.inspect}"
            if own.is_a?(Exception)
              same?(own, rails) || assert_refused(own, option, value, place)
            elsif OWN.include?(option)
              flunk("#{place} answered #{own.inspect}")
            elsif !rails.is_a?(Exception)
              assert_same_answer rails, own, place
            end
          end
        end
      end

      test "the constructor accepts what Rails' stores use" do
        [{ expires_in: 0 }, { expires_in: -1 }, { expires_in: 1.5 }, { expires_in: 5.minutes }, { expires_in: nil },
         { expires_in: 3r }, { expires_in: Float::INFINITY }, { race_condition_ttl: 10.seconds },
         { race_condition_ttl: 0 }, { namespace: "n" }, { namespace: :n }, { namespace: -> { "n" } },
         { namespace: nil }, { namespace: false }, { namespace: "n".method(:to_s) }, { compress: nil },
         { compress_threshold: 1.5.kilobytes }, { compress_threshold: nil }, { skip_nil: true }, { raw: true },
         { tags: 5 }, { tags: [:a, "b"] }, { tags: nil }, { version: "1" }, { coder: Marshal },
         { error_handler: nil }, { raise_errors: nil }, { lock_timeout: 0.001 }, { wait: 0 }].each do |options|
          made = ActiveSupport::Cache::LarderStore.new(path_of, options)
          expired = options[:expires_in] && options[:expires_in].to_f <= 0
          assert made.write("k", 1), options.inspect
          assert_same_answer((1 unless expired), made.read("k"), options.inspect)
        end
      end

      test "calls accept what Rails' stores accept" do
        now = Time.now
        [{ expires_in: 0 }, { expires_in: 1.5 }, { expires_in: 5.minutes }, { expires_in: nil }, { expires_in: 3r },
         { expires_at: now + 60 }, { expires_at: nil }, { expires_at: false }, { expires_at: now - 60 + 120 },
         { expires_at: (now + 60).in_time_zone("UTC") }, { expire_in: 5 }, { expired_in: "no", expires_in: 5 },
         { race_condition_ttl: "5" }, { race_condition_ttl: nil }, { namespace: 5 }, { namespace: :n },
         { namespace: false }, { compress: "yes" }, { skip_nil: 1 }, { force: "yes" }, { raw: 1 },
         { compress_threshold: 1.5 }, { version: Object }, { unless_exist: "yes" }].each do |options|
          CALLS.each do |name, call|
            own, rails = outcomes_of(call, options)
            next assert_kind_of StandardError, rails if name == :delete_matched && options == { namespace: 5 }

            assert_same_answer rails, own, "#{name} #{options.inspect}"
          end
        end
      end

      test "options that are not a Hash are refused" do
        [60, "n", :namespace, [1]].each do |wrong|
          [-> { store.read("k", wrong) }, -> { store.write("k", 1, wrong) }, -> { store.fetch("k", wrong) { 1 } },
           -> { store.exist?("k", wrong) }, -> { store.delete("k", wrong) }].each do |call|
            error = assert_raises(::ArgumentError, &call)
            assert_equal "options of LarderStore are #{wrong.inspect}; they are a Hash, as expires_in: 60",
                         error.message
          end
        end
      end

      test "delete_matched finds the keys of every namespace that other calls take" do
        { 5 => "5:", :n => "n:", "x".method(:to_s) => "x:", -> { "p" } => "p:" }.each do |namespace, prefix|
          store.write("key", 1, namespace: namespace)
          assert_equal 1, store.read("#{prefix}key")
          assert_equal 1, store.delete_matched(/^key/, namespace: namespace), prefix
          assert_nil store.read("#{prefix}key")
        end
      end

      test "options of the store that was behind a remote store are checked, too" do
        remote = ActiveSupport::Cache::FileStore.new(path_of("remote"), expires_in: "60")
        error = assert_raises(::ArgumentError) { ActiveSupport::Cache::LarderStore.new(path_of, remote: remote) }
        assert_equal ':expires_in of LarderStore is "60"; it takes seconds as a number or duration', error.message
      end

      private

      # @return [Array] what LarderStore and MemoryStore answered or raised
      def outcomes_of(call, options)
        [store, ActiveSupport::Cache::MemoryStore.new].map do |each|
          each.clear
          each.write("here", 1)
          call.call(each, options)
        rescue StandardError => e
          e
        end
      end

      def assert_same_answer(expected, answer, place)
        expected.nil? ? assert_nil(answer, place) : assert_equal(expected, answer, place)
      end

      def same?(error, other)
        error.instance_of?(other.class) && error.message == other.message
      end

      def assert_refused(error, option, value, place)
        assert_instance_of ::ArgumentError, error, "#{place}: #{error.full_message}"
        shown = ":#{option} of LarderStore is #{value.inspect}; it takes"
        assert_match option == :tags ? /tags: cannot have .*; tags are/ : shown, error.message, place
      end
    end
  end
end
