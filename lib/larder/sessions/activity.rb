# frozen_string_literal: true

# Counts sessions in counters of the file, or of the store of cache:, so that a figure needs no look at every session.

require_relative "room"

module Larder
  module Sessions
    # A session is in the counters of the minute, the hour and the day of its last use. If sessions have a max_lifetime,
    # a file also has it in the counter of the minute, hour or day of its end, unless it is used again. One that got a
    # longer lifetime from a request counts as if it had the configured one.
    #
    # A session that expires or is evicted stays in its counters, which expire later than the time that they are about.
    #
    # A counter is two numbers of 32 bits in one of 64, so that one increment changes both: above the sessions that are
    # signed in, below the anonymous ones.
    class Activity
      # How the keys of its counters begin, seconds of a step, the longest question that it answers and the life of a
      # counter, both in seconds.
      Series = Struct.new(:prefix, :step, :reach, :life)
      BY_USE = [Series.new("n/m", 60, 2 * 3600, 3 * 3600), Series.new("n/h", 3600, 3 * 86_400, 4 * 86_400),
                Series.new("n/d", 86_400, Float::INFINITY, 400 * 86_400)].freeze
      # The most counters of a question about ends, unless their step is a day.
      MANY = 400
      SIGNED_IN = 1 << 32
      ANONYMOUS = 1
      private_constant :Series, :BY_USE, :MANY, :SIGNED_IN, :ANONYMOUS

      # Counters in a file.
      class Counters
        # How the keys of all counters begin.
        PREFIX = "n/"
        private_constant :PREFIX

        # @param cache [Cache]
        def initialize(cache)
          @cache = cache
        end

        # A counter that is gone is not decremented: its time is over.
        #
        # @param changes [Hash{String => Array(Integer, Integer)}] what is added to each counter, and seconds to live
        # @return [void]
        def count(changes)
          changes.each do |name, (by, life)|
            unless @cache.exist?(name)
              next if by.negative?

              Pinning.as_room_allows { |pin| @cache.add(name, "0", ttl: life, pin: pin) }
            end
            @cache.increment(name, by, ttl: life)
          end
        end

        # @param names [Array<String>]
        # @return [Array<Integer, String>] those that are there
        def counts(names)
          @cache.get_multi(names).values
        end

        # @return [Hash{String => Integer, String}]
        def all
          @cache.get_multi(@cache.each_key(prefix: PREFIX).to_a)
        end
      end

      # @param counters [Counters, Backends::Store]
      # @param lifetimes [Lifetimes]
      def initialize(counters, lifetimes)
        @counters = counters
        @lifetimes = lifetimes
        @by_end = by_end if lifetimes.max && counters.is_a?(Counters)
        @all = [*BY_USE, @by_end].compact
      end

      # Moves a session from its counters to others.
      #
      # @param before [Record, nil] nil: it is new
      # @param after [Record, nil] nil: it has ended
      # @return [void]
      def moved(before, after)
        minus = weight(before)
        plus = weight(after)
        changes = {}
        @all.each do |series|
          from = step(series, before)
          to = step(series, after)
          if from == to
            change(changes, series, to, plus - minus) unless plus == minus
          else
            change(changes, series, from, -minus)
            change(changes, series, to, plus)
          end
        end
        @counters.count(changes) unless changes.empty?
      end

      # @param last [Numeric] seconds, to a minute; beyond 2 hours to an hour, beyond 3 days to a day
      # @param now [Integer] Unix seconds
      # @return [Array(Integer, Integer)] sessions that were last used in that time: signed in, and anonymous
      def count(last:, now:)
        series = BY_USE.find { |one| last <= one.reach }
        sum(series, [now - last, now - BY_USE.last.life].max, now)
      end

      # @param now [Integer] Unix seconds
      # @return [Array(Integer, Integer)] sessions that have not ended: signed in, and anonymous. If sessions may be
      #   idle for ever, all that were counted
      def alive(now)
        return sum(@by_end, now, now + @by_end.reach) if @by_end

        [@lifetimes.idle, @lifetimes.anonymous].each_with_index.map do |idle, kind|
          count(last: idle || Float::INFINITY, now: now)[kind]
        end
      end

      # Corrects the counters by a look at every session. Other processes change sessions and counters meanwhile, so a
      # counter is only corrected by what lies outside of its values before and after the look, and by an increment. It
      # stays wrong by at most the number of its sessions that were changed meanwhile.
      #
      # @param records [Enumerable<Record>] of all sessions
      # @param now [Integer] Unix seconds
      # @return [void]
      def recount(records, now:)
        seen = Hash.new(0)
        before = @counters.all
        records.each { |record| @all.each { |series| seen[name(series, step(series, record))] += weight(record) } }
        after = @counters.all
        changes = {}
        @all.each do |series|
          (seen.keys | after.keys).each do |name|
            step = name[/\A#{series.prefix}(\d+)\z/, 1]&.to_i
            next if step.nil? || (step * series.step) + series.life <= now # nobody asks about that time any more

            change(changes, series, step, error(seen[name], before[name], after[name]))
          end
        end
        @counters.count(changes)
      end

      private

      def by_end
        longest = [@lifetimes.idle && (@lifetimes.idle + Lifetimes::USED_EVERY), @lifetimes.max].compact.min
        step = BY_USE.map(&:step).find { |seconds| longest <= MANY * seconds } || BY_USE.last.step
        Series.new("n/e#{step}/", step, longest, longest + (2 * step))
      end

      def weight(record)
        return 0 unless record

        record.user? ? SIGNED_IN : ANONYMOUS
      end

      def step(series, record)
        return unless record

        at = record.used
        at += [@lifetimes.left(record, at), series.reach].min if series.equal?(@by_end)
        at.div(series.step)
      end

      def name(series, step)
        "#{series.prefix}#{step}"
      end

      def change(changes, series, step, by)
        changes[name(series, step)] = [by, series.life] unless by.zero?
      end

      def sum(series, from, to)
        names = (from.to_i.div(series.step)..to.to_i.div(series.step)).map { |step| name(series, step) }
        numbers = @counters.counts(names).map { |number| halves(number) }
        [0, 1].map { |kind| numbers.sum { |number| [number[kind], 0].max } }
      end

      # @return [Integer] what is to be added to a counter, by its sessions that were seen and its values around that
      def error(seen, *counted)
        seen, *counted = [seen, *counted].map { |number| halves(number) }
        signed_in, anonymous = seen.zip(*counted).map { |number, *range| number - number.clamp(*range.minmax) }
        (signed_in * SIGNED_IN) + anonymous
      end

      def halves(number)
        low = ((number.to_i + (SIGNED_IN / 2)) % SIGNED_IN) - (SIGNED_IN / 2)
        [(number.to_i - low) / SIGNED_IN, low]
      end
    end
  end
end
