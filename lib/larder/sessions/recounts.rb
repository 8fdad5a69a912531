# frozen_string_literal: true

# Decides when the counts of sessions have to be corrected, and has one process do it at a time.

require_relative "room"

module Larder
  module Sessions
    # A session and its counters are several entries of the file, so a process that is killed between two of them leaves
    # wrong counts. Questions have them corrected once an hour, and earlier if a process says that they are doubtful:
    # an exception or a timeout interrupted a change.
    class Recounts
      # Present while the counts are not doubtful; seconds, at most.
      COUNTED = "counted"
      HOUR = 3600
      # Has the number of the process that corrects them; seconds, at most. The number is the engine's:
      # that of the operating system means nothing in another container.
      COUNTING = "counting"
      PATIENCE = 600
      # Seconds between two looks at the file, and between two attempts to correct.
      EVERY = 60
      PAUSE = 0.02
      private_constant :COUNTED, :HOUR, :COUNTING, :PATIENCE, :EVERY, :PAUSE

      # @param cache [Cache]
      # @param report [#call] called with an Error of the thread that corrects counts
      # @param clock [#call] seconds
      def initialize(cache, report:, clock:)
        @cache = cache
        @report = report
        @clock = clock
        @looked = -Float::INFINITY
      end

      # Marks the counts as doubtful.
      # @return [void]
      def doubt
        unless_lost { @cache.delete(COUNTED) }
      end

      # Once in a minute, has doubtful counts corrected in a thread.
      #
      # @yieldreturn [void] corrects them
      # @return [Thread, nil]
      def look(&recount)
        return if @clock.call < @looked + EVERY

        @looked = @clock.call
        return if @cache.exist?(COUNTED) || !mine?

        Thread.new do
          correct(&recount)
        rescue ::Larder::Error => error
          @report.call(error) unless @cache.closed?
        end
      end

      # Has the counts corrected, after another process that does so.
      #
      # @yieldreturn [void] corrects them
      # @return [void]
      def recount(&recount)
        sleep PAUSE until mine?
        correct(&recount)
      end

      private

      # The counts are lost with the file.
      def unless_lost
        yield unless @cache.closed?
      rescue ::Larder::DamagedError, ::Larder::OpenError
        nil
      end

      # Takes the place of a process that died while it corrected them.
      def mine?
        owner = @cache.get(COUNTING)
        number = @cache.process.to_s
        return @cache.add(COUNTING, number, ttl: PATIENCE) unless owner

        !@cache.process_lives?(owner.to_i) && @cache.cas(COUNTING, owner, number, ttl: PATIENCE)
      end

      # A doubt that comes during a correction stays. If this process is killed then, the counts wait for the next hour.
      def correct
        Pinning.as_room_allows { |pin| @cache.set(COUNTED, "", ttl: HOUR, pin: pin) }
        yield
        done = true
      ensure
        doubt unless done
        unless_lost { @cache.delete(COUNTING) }
      end
    end
  end
end
