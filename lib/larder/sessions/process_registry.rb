# frozen_string_literal: true

# The processes that change the counts of sessions: registered while they do, and found where they died at it.

module Larder
  module Sessions
    # A process that is killed between a session and its counts leaves them one off. So each registers before its first
    # change and unregisters when it exits; one that is registered and no longer there died: the counts are made anew.
    class ProcessRegistry
      # Where the numbers of processes are, with blanks between them. They are the engine's, not those of the
      # operating system, which mean nothing in another container.
      LIST = "processes"
      # Held by who is counting, for so many seconds at most.
      COUNTING = "counting"
      PATIENCE = 600
      # Seconds between two looks.
      EVERY = 60
      # Attempts to change the list that others change meanwhile.
      ATTEMPTS = 100
      private_constant :LIST, :COUNTING, :PATIENCE, :EVERY, :ATTEMPTS

      # @param cache [Cache]
      # @param report [#call] told of what went wrong while counting, as an Error
      def initialize(cache, report:)
        @cache = cache
        @report = report
        @looked = -Float::INFINITY
      end

      # Registers this process.
      # @return [void]
      def register
        number = @cache.__send__(:_process)
        return if number == @number

        @number = number
        change { |numbers| numbers | [number.to_s] }
        unregister_at_exit
      end

      # Takes this process out.
      # @return [void]
      def unregister
        number = @number
        @number = nil
        return if number.nil? || @cache.closed? || number != @cache.__send__(:_process) # a parent's, or another file's

        change { |numbers| numbers - [number.to_s] }
      rescue ::Larder::DamagedError, ::Larder::OpenError
        nil # the file is gone, and with it the list
      end

      # Looks, once in a minute, whether anybody died, and counts anew in a thread of its own if so.
      #
      # @param now [Integer] seconds of any clock
      # @yieldreturn [void] counts
      # @return [Thread, nil] nil: nobody died, or it was looked a short while ago, or somebody else is counting
      def look(now, &count)
        return if now < @looked + EVERY

        @looked = now
        dead = list.reject { |number| @cache.__send__(:_process_lives?, number.to_i) }
        count_anew(dead, &count) if dead.any? && @cache.add(COUNTING, "", ttl: PATIENCE)
      end

      private

      # Once in each process: a forked child registers itself.
      def unregister_at_exit
        pid = Process.pid
        return if pid == @exits

        @exits = pid
        at_exit { unregister if Process.pid == pid }
      end

      def list
        @cache.get(LIST).to_s.split
      end

      # Who cannot register, for want of room or of a lock, goes on: its death would go unnoticed, and nothing more.
      def change
        ATTEMPTS.times do
          before = @cache.get(LIST)
          after = yield(before.to_s.split).join(" ")
          return if before == after
          return if before ? @cache.cas(LIST, before, after, pin: true) : @cache.add(LIST, after, pin: true)
        end
      rescue ::Larder::FullError => error
        @report.call(error)
      end

      # They are forgotten only then: a counter that dies is followed by another.
      def count_anew(dead)
        Thread.new do
          yield
          change { |numbers| numbers - dead }
        rescue ::Larder::Error => error
          @report.call(error)
        ensure
          @cache.delete(COUNTING) unless @cache.closed?
        end
      end
    end
  end
end
