# frozen_string_literal: true

# The common part of the servers of messages: one connection for messages that are sent, and deadlines.

require "larder/remote/backplane/deadline"
require "larder/remote/backplane/pulse"

module Larder
  module Remote
    class Backplane
      # The server did not answer in time.
      # @api private
      class Unreachable < StandardError; end

      # A subclass has these methods. All that wait have a deadline, or run in {#connected}:
      #
      # - `@place`, which `initialize` sets
      # - `client_errors`, an Array of classes
      # - `servers`, how many there are, and `next_server`, which has the next connections go to the next one
      # - `connect`, which answers a connection
      # - `deliver(connection, channel, message, deadline)`
      # - `close(connection)`, and `disown(connection)` in a child process, which sends the server nothing
      #
      # One thread at a time publishes.
      # @api private
      class Server
        # @return [String] the same for the same servers, without passwords
        attr_reader :place

        # @return [Array<Class>] that mean that the server could not serve
        def errors
          [*client_errors, Unreachable, ThreadError]
        end

        # Sends messages over a connection that is kept. If that one is broken, a new one is made to the same server,
        # then to the next. After an error, also one of another thread, a connection is not used again: an answer that
        # comes late would be taken for that of the next call.
        #
        # @param channel [String]
        # @param messages [Array<String>]
        # @param deadline [Deadline] of all together
        # @return [void]
        def publish(channel, messages, deadline)
          forget_parents
          attempts = servers + (@publisher ? 1 : 0)
          begin
            kept = !@publisher.nil?
            attempt(channel, messages, deadline.part(attempts))
          rescue *client_errors, Unreachable
            next_server unless kept
            (attempts -= 1).positive? && !deadline.over? ? retry : raise
          end
        end

        # In a child process: the connections are its parent's.
        # @return [void]
        def forget_parents
          return if @pid == Process.pid

          [@publisher, @subscriber].compact.each { |connection| disown(connection) }
          @publisher = @subscriber = nil
          @pid = Process.pid
        end

        private

        def attempt(channel, messages, deadline)
          @publisher ||= connected(deadline) { connect }
          messages.each { |message| deliver(@publisher, channel, message, deadline) }
          done = true
        ensure
          discard unless done
        end

        def discard
          close(@publisher) if @publisher
          @publisher = nil
        end

        # Yields in a thread: to resolve a name, to ask a Sentinel or to greet a server takes as long as it takes.
        #
        # @return [Object] the block's connection
        # @raise [Unreachable]
        def connected(deadline, &block)
          thread = Thread.new { reachable(&block) }
          thread.report_on_exception = false
          raise Unreachable, "no connection in time" unless thread.join(deadline.left)

          connection, error = thread.value
          error ? raise(error) : connection
        ensure
          thread&.kill
        end

        # The thread returns its error: with Thread.abort_on_exception one that it raises ends the process.
        #
        # @return [Array(Object, nil), Array(nil, StandardError)] the block's connection, or why there is none
        def reachable
          [yield, nil]
        rescue *client_errors => e
          [nil, e]
        rescue StandardError => e # files of certificates may be missing, and more
          [nil, Unreachable.new("#{e.class}: #{e.message}")]
        end
      end
    end
  end
end
