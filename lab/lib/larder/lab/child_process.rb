# frozen_string_literal: true

require_relative "clock"
require_relative "errors"

module Larder
  module Lab
    # Waits for the end of a process that the lab has started, and says why it ended. For classes with the instance
    # variables `@pid` of the process and `@log`, the path of everything that it prints.
    module ChildProcess
      include Clock

      # Seconds that a process has for leaving after its input has ended.
      PATIENCE = 5

      private

      def cause_of_death
        status = reap
        how = status&.signaled? ? "was killed by signal #{status.termsig}" : "ended early"
        [how, last_words].compact.join(": ")
      end

      # The first thing it printed, without the place that Ruby puts before a message. Bundler's message is on the line
      # after that.
      def last_words
        said = File.exist?(@log) ? File.read(@log, encoding: "UTF-8").scrub : ""
        lines = said.lines.map { |line| line.strip.sub(/\A\S+:\d+:in [`'].*?': */, "") }
        lines.find { |line| line.match?(/\w/) && !line.match?(/\A\([\w:]+\)\z/) }
      end

      # Ends the process by force if it does not leave.
      def end_process
        return if reap

        kill
        reap
      rescue Errno::ECHILD
        nil
      end

      def kill
        Process.kill(:KILL, @pid)
      rescue Errno::ESRCH
        nil
      end

      # Its status; nil if it still runs after {PATIENCE}.
      def reap
        limit = now + PATIENCE
        until @status
          pid, status = Process.wait2(@pid, Process::WNOHANG)
          @status = status if pid
          return @status if @status || now > limit

          sleep 0.005
        end
        @status
      end
    end
  end
end
