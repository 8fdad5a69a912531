# frozen_string_literal: true

# Owns how many sessions were last used when: counters by minute, hour and day in Larder's file. Knows no session.

require_relative "pinning"

module Larder
  module Sessions
    # Counts sessions by the time of their last use, so that nobody has to look at all of them.
    #
    # A session stands in one minute, one hour and one day. A use moves it to others, its end takes it out. One that
    # leaves in silence, because it has expired or an anonymous one was evicted, stays where it was last used, until
    # nobody asks about that time any more.
    #
    # A counter has two numbers of 32 bits in one of 64, which changes at once: of those who are signed in, and below of
    # the others.
    class Activity
      # A scale: how the names of its counters begin, seconds of a step, seconds of the longest question that it
      # answers, seconds that its counters live.
      Scale = Struct.new(:prefix, :step, :reach, :life)
      SCALES = [Scale.new("n/m", 60, 2 * 3600, 3 * 3600), Scale.new("n/h", 3600, 3 * 86_400, 4 * 86_400),
                Scale.new("n/d", 86_400, Float::INFINITY, 400 * 86_400)].freeze
      # Before the names of all counters.
      PREFIX = "n/"
      # One session that is signed in, and one that is not.
      SIGNED_IN = 1 << 32
      ANONYMOUS = 1
      private_constant :Scale, :SCALES, :PREFIX, :SIGNED_IN, :ANONYMOUS

      # @param cache [Cache]
      def initialize(cache)
        @cache = cache
        @known = {}.compare_by_identity
      end

      # @param record [Record] a new session
      # @return [void]
      def began(record)
        SCALES.each { |scale| change(scale, record.used / scale.step, weight(record)) }
      end

      # @param before [Record]
      # @param after [Record] the same session, used later, or signed in or out
      # @return [void]
      def moved(before, after)
        minus = weight(before)
        plus = weight(after)
        left = before.used
        now = after.used
        return if minus == plus && left / SCALES.first.step == now / SCALES.first.step

        SCALES.each do |scale|
          step = scale.step
          from = left / step
          to = now / step
          if from != to
            forget(scale, from, minus, now)
            change(scale, to, plus)
          elsif minus != plus
            change(scale, to, plus - minus)
          else
            break # what is in the same minute is in the same hour
          end
        end
      end

      # @param record [Record] a session that has ended
      # @param now [Integer] Unix seconds
      # @return [void]
      def ended(record, now)
        SCALES.each { |scale| forget(scale, record.used / scale.step, weight(record), now) }
      end

      # @param last [Numeric] seconds, to a minute; beyond 2 hours to an hour, beyond 3 days to a day
      # @param now [Integer] Unix seconds
      # @return [Array(Integer, Integer)] sessions that were last used then: signed in, and not
      def count(last:, now:)
        scale = SCALES.find { |one| last <= one.reach }
        steps = ([now - last, now - SCALES.last.life].max.to_i / scale.step)..(now / scale.step)
        signed_in = anonymous = 0
        @cache.get_multi(steps.map { |step| name(scale, step) }).each_value do |number|
          low = ((number.to_i + (1 << 31)) & 0xffffffff) - (1 << 31)
          high = (number.to_i - low) >> 32
          signed_in += high if high.positive?
          anonymous += low if low.positive?
        end
        [signed_in, anonymous]
      end

      # Makes all counters anew.
      #
      # @yieldparam count [#call] is to be called with each session's Record
      # @return [void]
      def recount
        counts = SCALES.to_h { |scale| [scale, Hash.new(0)] }
        yield(->(record) { counts.each { |scale, of| of[name(scale, record.used / scale.step)] += weight(record) } })
        old = @cache.each_key(prefix: PREFIX).to_a
        counts.each { |scale, of| of.each { |name, number| put(name, number, scale) } }
        old.each { |name| @cache.delete(name) unless counts.any? { |_, of| of.key?(name) } }
      end

      private

      def weight(record)
        record.user? ? SIGNED_IN : ANONYMOUS
      end

      def name(scale, step)
        "#{scale.prefix}#{step}"
      end

      # The first of a process makes sure that the counter is kept.
      def change(scale, step, by)
        known, name = @known[scale]
        name = begin_counter(scale, step) unless known == step
        @cache.increment(name, by)
      end

      def begin_counter(scale, step)
        name = name(scale, step)
        Pinning.as_room_allows { |pin| @cache.add(name, "0", ttl: scale.life, pin: pin) }
        @known[scale] = [step, name]
        name
      end

      # There is no counter of a time that nobody asks about any more.
      def forget(scale, step, by, now)
        @cache.increment(name(scale, step), -by) if now < (step * scale.step) + scale.life
      end

      def put(name, number, scale)
        Pinning.as_room_allows { |pin| @cache.set(name, number.to_s, ttl: scale.life, pin: pin) }
      end
    end
  end
end
