# frozen_string_literal: true

# The processes that change the counts of sessions: registered while they do, and found where they died at it.

module Larder
  module Sessions
    # A process that is killed between a session and its counts leaves them one off. So each registers before its first
    # change and unregisters when it exits; one that is registered and no longer there died: the counts are made anew.
    class ProcessRegistry
      # Where the ids of processes are, with blanks between them.
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
        pid = Process.pid
        return if pid == @pid

        @pid = pid
        change { |pids| pids | [pid.to_s] }
        at_exit { unregister if Process.pid == pid }
      end

      # Takes this process out.
      # @return [void]
      def unregister
        pid = @pid
        @pid = nil
        change { |pids| pids - [pid.to_s] } if pid == Process.pid && !@cache.closed?
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
        dead = list.reject { |pid| alive?(pid.to_i) }
        count_anew(dead, &count) if dead.any? && @cache.add(COUNTING, "", ttl: PATIENCE)
      end

      private

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
          change { |pids| pids - dead }
        rescue ::Larder::Error => error
          @report.call(error)
        ensure
          @cache.delete(COUNTING) unless @cache.closed?
        end
      end

      def alive?(pid)
        Process.kill(0, pid)
        true
      rescue Errno::ESRCH
        false
      rescue Errno::EPERM
        true
      end
    end
  end
end
