# frozen_string_literal: true

# The stage of a LarderStore on a file of its own: besides what callers see, what is in the file, and which calls
# came into Rails' methods.

require "support/ordinary_methods"
require "support/differential/stage"

module Differential
  class LarderStage < Stage
    REPLACED = %i[fetch read write delete exist? read_multi write_multi fetch_multi].map do |name|
      OrdinaryMethods[name]
    end.freeze

    # @param path [String] of the store's file
    # @param setup [String] source of a Hash, the store's options
    # @param real_clock [Boolean] leave Time.now as it is, so that expiries are compared by the minute
    def initialize(path, setup, real_clock: false)
      super(setup, real_clock: real_clock) do |options|
        ActiveSupport::Cache::LarderStore.new(path, { size: 4 << 20, **options })
      end
      @path = path
      @started = Time.now.to_f
      @reader = Larder::Cache.open(path)
    end

    # @param steps [Array<String>] sources
    # @yieldparam step [String] after it was played
    # @yieldparam entered [Boolean] did it enter a method of ActiveSupport's that the fast path stands in for?
    # @return [Array<Hash>] what is to be seen after each; the last is the first at which the file was full
    def play(steps, &block)
      @told = block
      watching { super(steps) }
    end

    # @return [Hash{String => String}, nil] what is stored under each live key after the last step, by a handle of its
    #   own; nil: the file was full
    def records_at_end
      Larder::Cache.open(@path) { |cache| records(cache, @ended) } unless over?
    end

    # @return [void]
    def close
      @reader.close
      @store.cache.close
    end

    private

    def look_at(step)
      @entered = false
      seen = super
      seen[:records] = records(@reader, Time.now.to_f) unless over?
      @told&.call(step, @entered)
      seen
    end

    # Which entries leave a full file depends on more than the calls.
    def over?
      @reader.stats[:evictions].positive?
    end

    # Sets @entered where a step comes into a method that the fast path replaces.
    def watching
      traces = REPLACED.map do |method|
        TracePoint.new(:call) { @entered = true }.tap { |trace| trace.enable(target: method) }
      end
      yield
    ensure
      traces&.each(&:disable)
    end

    # What is stored under each live key: bytes, flags and expiry.
    def records(cache, now)
      cache.each_key(now: now).uniq.sort.to_h do |key|
        record = Larder::Store::Records.new(cache).get(key, Larder::Options.unix_ms(now))
        [Portrait.of_bytes(key), record && picture_of(record)]
      end
    end

    # A coder's bytes name the time of expiry, which by the real clock differs.
    def picture_of(record)
      bytes, flags, expires_at_ms = record
      return [Portrait.of_bytes(bytes), flags, expires_at_ms].inspect unless @real_clock

      expiry = expires_at_ms.zero? ? "never" : ((expires_at_ms / 1000.0) - @started).fdiv(100).floor
      [flags.nobits?(15) ? "dumped" : Portrait.of_bytes(bytes), flags, expiry].inspect
    end
  end
end
