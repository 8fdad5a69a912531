# frozen_string_literal: true

require_relative "clock"
require_relative "errors"

module Larder
  module Lab
    # Reads the lines of a process that the lab has started, waits for its end, and says why it ended. For classes with
    # the instance variables `@pid` of the process and `@log`, the path of everything that it prints.
    module ChildProcess
      include Clock

      # Seconds that a process has for leaving after its input has ended.
      PATIENCE = 5
      CHUNK = 65_536
      private_constant :CHUNK

      private

      # The next complete line; nil if the stream has ended. Waits `seconds` at most: then it yields, and raises Invalid
      # with the reason `late`.
      def line_from(io, seconds, late)
        deadline = now + seconds
        @buffer ||= String.new(encoding: Encoding::BINARY)
        until (line = @buffer.slice!(/\A.*\n/))
          left = deadline - now
          unless left.positive? && io.wait_readable(left)
            yield
            raise Invalid, late
          end

          chunk = io.read_nonblock(CHUNK, exception: false)
          return nil if chunk.nil?

          @buffer << chunk unless chunk == :wait_readable
        end
        line.force_encoding(Encoding::UTF_8)
      end

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
