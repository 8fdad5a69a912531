# frozen_string_literal: true

# Decides when the counts of sessions have to be corrected, and has one process do it at a time.

require_relative "pinning"

module Larder
  module Sessions
    # A session and its counters are several entries of the file, so a process that is killed between two of them leaves
    # wrong counts. They are doubtful if
    #
    # - a registered process died: each registers before its first change and unregisters when it exits;
    # - a process said so, see {#doubt}: an exception, a signal or a timeout interrupted a change;
    # - nobody has corrected them for a day.
    class ProcessRegistry
      # The numbers of processes, with blanks between them. They are the engine's: those of the operating system mean
      # nothing in another container.
      LIST = "processes"
      # Present while the counts are not doubtful, and for so many seconds at most.
      COUNTED = "counted"
      SWEEP = 86_400
      # Has the number of the process that corrects them, and for so many seconds at most.
      COUNTING = "counting"
      PATIENCE = 600
      # Seconds between two looks at the file, and between two attempts to correct.
      EVERY = 60
      PAUSE = 0.02
      # Attempts to change the list, which others change too.
      ATTEMPTS = 100
      private_constant :LIST, :COUNTED, :SWEEP, :COUNTING, :PATIENCE, :EVERY, :PAUSE, :ATTEMPTS

      # @param cache [Cache]
      # @param report [#call] called with an Error of the thread that corrects counts
      # @param clock [#call] seconds
      def initialize(cache, report:, clock:)
        @cache = cache
        @report = report
        @clock = clock
        @looked = -Float::INFINITY
      end

      # Registers this process unless the list has it: the file may be another one, or have been emptied.
      #
      # @return [Boolean] false: it was registered already
      def register
        number = self.number
        list = @cache.get(LIST)
        return false if number == @number && (list&.split&.include?(number.to_s) || @clock.call < @retry_at)

        counted unless list # the file is new
        listed = change { |numbers| numbers | [number.to_s] }
        @retry_at = listed ? -Float::INFINITY : @clock.call + EVERY
        unregister_at_exit
        @number = number
        true
      end

      # @return [void]
      def unregister
        mine = @number
        @number = nil
        unless_lost { change { |numbers| numbers - [mine.to_s] } if mine == number } # not a parent's, or another file's
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
        return unless doubtful? && mine?

        Thread.new do
          correct(&recount)
        rescue ::Larder::Error => error
          @report.call(error)
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

      def number
        @cache.process
      end

      def dead
        @cache.get(LIST).to_s.split.reject { |number| @cache.process_lives?(number.to_i) }
      end

      # Without a list nobody has changed them.
      def doubtful?
        dead.any? || (@cache.exist?(LIST) && !@cache.exist?(COUNTED))
      end

      # Once in each process: a forked child registers itself.
      def unregister_at_exit
        pid = Process.pid
        return if pid == @exits

        @exits = pid
        at_exit { unregister if Process.pid == pid }
      end

      # @return [Boolean] false: there is no room, or a lock timed out; nobody will notice this process's death
      def change
        ATTEMPTS.times do
          before = @cache.get(LIST)
          after = yield(before.to_s.split).join(" ")
          return true if before == after
          return true if before ? @cache.cas(LIST, before, after, pin: true) : @cache.add(LIST, after, pin: true)
        end
        false
      rescue ::Larder::FullError => error
        @report.call(error)
        false
      end

      # The list and the counts are lost with the file.
      def unless_lost
        yield unless @cache.closed?
      rescue ::Larder::DamagedError, ::Larder::OpenError
        nil
      end

      def counted
        Pinning.as_room_allows { |pin| @cache.set(COUNTED, "", ttl: SWEEP, pin: pin) }
      end

      # Takes the place of a process that died while it corrected them.
      def mine?
        owner = @cache.get(COUNTING)
        return @cache.add(COUNTING, number.to_s, ttl: PATIENCE) unless owner

        !@cache.process_lives?(owner.to_i) && @cache.cas(COUNTING, owner, number.to_s, ttl: PATIENCE)
      end

      # A doubt that comes meanwhile stays. If this process dies meanwhile, its entry in the list tells.
      def correct
        register
        died = dead
        counted
        yield
        change { |numbers| numbers - died }
        done = true
      ensure
        doubt unless done
        unless_lost { @cache.delete(COUNTING) }
      end
    end
  end
end
