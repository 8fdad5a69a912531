# frozen_string_literal: true

# Methods that a module has before Rails' class, as an APM's: they are called as those of MemoryStore are. Whatever
# changes a class for good happens in a child.

require "support/store_case"
require "active_support/cache/memory_store"

module LarderStoreTests
  class PatchedMethodsTest < StoreCase
    Store = ActiveSupport::Cache::Store

    CALLS = {
      "fetch" => ->(store, *options) { store.fetch("a", *options) { 1 } },
      "read" => ->(store, *options) { store.read("a", *options) },
      "write" => ->(store, *options) { store.write("a", 1, *options) },
      "exist?" => ->(store, *options) { store.exist?("a", *options) },
      "delete" => ->(store, *options) { store.delete("a", *options) },
      "read_multi" => ->(store, *options) { store.read_multi("a", "b", *options) },
      "write_multi" => ->(store, *options) { store.write_multi({ "a" => 1 }, *options) },
      "fetch_multi" => ->(store, *options) { store.fetch_multi("a", "b", *options) { 1 } }
    }.freeze
    KEYWORDS = Hash.ruby2_keywords_hash({ expires_in: 5 }).freeze
    GIVEN = [[], [{ expires_in: 5 }], [KEYWORDS], [nil]].freeze
    NIL_IS_A_NAME = %w[read_multi fetch_multi].freeze

    # Tells the arguments as a method gets them that takes keywords, and is called once for each call.
    RECORDING = Module.new do
      CALLS.each_key do |name|
        define_method(name) do |*given, **keywords, &block|
          (@calls ||= []) << [name, given, keywords]
          super(*given, **keywords, &block)
        end
      end
    end

    # As modules are written for the way in which most call these methods.
    ONLY_KEYWORDS = Module.new do
      %w[fetch read exist? write_multi].each do |method|
        define_method(method) { |name, **options, &block| super(name, **options, &block) }
      end
      define_method("write") { |name, value, **options| super(name, value, **options) }
    end
    NEVER_NIL = Module.new do
      def fetch(name, options = {}) = options[:any] || super
      def read(name, options = {}) = options[:any] || super
      def exist?(name, options = {}) = options[:any] || super
      def write(name, value, options = {}) = options[:any] || super
      def write_multi(hash, options = {}) = options[:any] || super
    end

    SENDING = Module.new do
      %i[instrument instrument_multi].each do |method|
        define_method(method) do |operation, key, options = nil, &block|
          (@operations ||= []) << [operation, key]
          super(operation, key, options, &block)
        end
      end
    end

    # What the calls leave in an instance variable of both stores, in a child with the module.
    def seen(patch, variable)
      in_child do
        Store.prepend(patch)
        [ActiveSupport::Cache::MemoryStore.new, new_store].map do |cache|
          CALLS.each do |name, call|
            given = NIL_IS_A_NAME.include?(name) ? GIVEN - [[nil]] : GIVEN
            given.each { |options| call.call(cache, *options) }
          end
          cache.instance_variable_get(variable)
        end
      end
    end

    test "they get the arguments as they were given, keywords as keywords" do
      memory, larder = seen(RECORDING, :@calls)
      assert_operator memory.size, :>, CALLS.size
      # What Rails' methods give each other has options of the store, too.
      own = ->(calls) { calls.reject { |_, given, _| given.last.is_a?(Hash) && given.last.size > 1 } }
      assert_equal own.call(memory), own.call(larder)
    end

    { "keywords alone" => ONLY_KEYWORDS, "options that are never nil" => NEVER_NIL }.each do |what, patch|
      test "modules work that are written for #{what}" do
        answers = in_child do
          Store.prepend(patch)
          [ActiveSupport::Cache::MemoryStore.new, new_store, new_store(jitter: 0.1)].map do |cache|
            CALLS.values_at("write", "read", "exist?", "write_multi", "fetch").map do |call|
              [call.call(cache), call.call(cache, KEYWORDS)].map { |answer| answer.is_a?(Hash) || answer }
            end
          end
        end
        assert_equal [answers.first], answers.uniq
      end
    end

    test "a method that sends events is called for each, without a subscriber too" do
      memory, larder = seen(SENDING, :@operations)
      assert_operator memory.size, :>, 30
      assert_equal memory, larder
    end
  end
end
