# frozen_string_literal: true

# Runs the steps of a sequence on a store, with everything around it that a call of the cache may meet.
# Whatever a step changed outside of the stage is put back when the last was played.

require "support/store_case"
require "active_support/core_ext/hash/indifferent_access"
require "active_support/testing/time_helpers"
require "support/differential/portrait"

module Differential
  # What steps give as names and values.
  Named = Struct.new(:cache_key)
  Versioned = Struct.new(:cache_key, :cache_version)
  Shape = Struct.new(:name, :size)
  class Text < String; end

  # A name that is nothing but its parameter.
  class Odd
    attr_reader :to_param

    def initialize(text)
      @to_param = text
    end
  end

  class Thing
    def initialize(held)
      @held = held
    end
  end

  # The words of a step's source are the methods here.
  class Stage
    include ActiveSupport::Testing::TimeHelpers

    # In 2030, where milliseconds are no whole floats.
    START = Time.at(1_900_000_000, 123, :millisecond).utc
    LEVELS = { debug: 0, info: 1, error: 3 }.freeze

    attr_reader :store

    # @param setup [String] source of a Hash, the store's options
    # @param real_clock [Boolean] leave Time.now as it is
    # @yieldparam options [Hash]
    # @yieldreturn [ActiveSupport::Cache::Store]
    def initialize(setup, real_clock: false)
      @real_clock = real_clock
      @store = yield instance_eval(setup)
      @events = []
      @subscribers = []
      @io = StringIO.new
      @reports = ReportedErrors::Reports.new
      Larder::Reports.reset # each cause is reported once a minute
      Larder::Store::UnknownOptions.reset # unknown options are reported once in a process
      @name = +"shared"
      @options = { expires_in: real_clock ? 1050 : 5 }
    end

    # Plays one step after the other.
    #
    # @param steps [Array<String>] sources
    # @return [Array<Hash>] what is to be seen after each
    def play(steps)
      travel_to(START, with_usec: true) unless @real_clock
      ActiveSupport.error_reporter.subscribe(@reports)
      steps.each_with_object([]) do |step, seen|
        seen << look_at(step)
        break seen if over?
      end
    ensure
      @ended = Time.now.to_f
      put_back
    end

    # Yields, but not where it does so already.
    # @return [void]
    def once
      return if @busy

      begin
        @busy = true
        yield
      ensure
        @busy = false
      end
    end

    private

    # Can nothing that follows be compared?
    def over?
      false
    end

    # ---- words of the steps ----

    # Of what one path makes anew and the other does not: shared Strings take fewer bytes in Marshal's format.
    def copy(object)
      Marshal.load(Marshal.dump(object))
    end

    def later(seconds)
      travel_to(Time.now + seconds, with_usec: true) unless @real_clock
    end

    def listen(pattern)
      @subscribers << ActiveSupport::Notifications.subscribe(pattern) do |name, _, _, _, payload|
        @events << "#{name} #{Portrait.of(announced(payload))}"
      end
      nil
    end

    # A subscriber that does something at the start or finish of events, but not within events of that.
    def react(pattern, moment = :start, &block)
      subscriber = Object.new
      stage = self
      subscriber.define_singleton_method(moment) { |_, _, payload| stage.once { block.call(payload) } }
      subscriber.define_singleton_method(moment == :start ? :finish : :start) { |*| nil }
      @subscribers << ActiveSupport::Notifications.subscribe(pattern, subscriber)
      nil
    end

    # A key that is a String may be the caller's own, or one with the same bytes.
    def announced(payload)
      payload[:key].is_a?(String) ? payload.merge(key: String.new(payload[:key])) : payload
    end

    def unlisten
      ActiveSupport::Notifications.unsubscribe(@subscribers.pop) if @subscribers.any?
      nil
    end

    def log(level)
      plainly = ->(*, text) { "#{text}\n" }
      ActiveSupport::Cache::Store.logger =
        level && ActiveSupport::Logger.new(@io, level: LEVELS.fetch(level), formatter: plainly)
      nil
    end

    def raise_on_negative(value)
      ActiveSupport::Cache::Store.raise_on_invalid_cache_expiration_time = value
      nil
    end

    # The same String at each call, as a constant of an application would be.
    attr_reader :name, :options

    # ---- what is recorded ----

    def look_at(step)
      { result: outcome_of(step), events: @events.dup, log: Portrait.of_bytes(@io.string), reports: reports }
    ensure
      @events.clear
      @io.string = +""
    end

    # What was answered, mutable text of it then changed: it must be shared with nothing.
    def outcome_of(step)
      result = instance_eval(step, "step", 1)
      Portrait.of(result).tap { spoil(result) }
    rescue StandardError => e
      Portrait.of(e)
    end

    def spoil(result)
      case result
      when String then result.clear unless result.frozen? || result.equal?(@name)
      when Hash then result.each_value { |value| spoil(value) } unless result.equal?(@options)
      when Array then result.each { |value| spoil(value) }
      end
    end

    def reports
      @reports.all.map { |report| Portrait.of(report[:error]) }.tap { @reports.all.clear }
    end

    def put_back
      travel_back
      unlisten while @subscribers.any?
      ActiveSupport::Cache::Store.logger = nil
      ActiveSupport::Cache::Store.raise_on_invalid_cache_expiration_time = false
      ActiveSupport.error_reporter.unsubscribe(@reports)
    end
  end
end
