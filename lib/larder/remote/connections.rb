# frozen_string_literal: true

# Closes a connection that an exception left in the middle of a call: the next call would read the answer of this one.

require "larder/bytes/interrupts"

module Larder
  module Remote
    # Stands before the client or the pool of clients of a store on a server, as Rails' stores call it. A client is
    # used by one caller at a time. A call that is left by Timeout, by an exception of another thread, or by `throw`
    # or `break`, may leave a request without its answer. Such a client is closed before the next caller gets it. It
    # connects again when it is used.
    #
    # Clients do that, too, but not at every moment: Dalli does not while it connects. With its binary protocol all
    # later answers are then those of the calls before.
    # @api private
    class Connections
      # @param clients [ConnectionPool, Object] a pool, or a client that all threads share
      # @param shared [Boolean] is it a client that all threads share?
      # @param errors [Array<Class>] of a client that has read the answer, or has closed the connection itself
      # @param close [#call] is given a client
      def initialize(clients, shared:, errors:, close:)
        @clients = clients
        @lock = Mutex.new if shared
        @errors = errors
        @close = close
      end

      # @yieldparam client [Object]
      # @return [Object] the block's value
      def with(&block)
        return @clients.with { |client| use(client, &block) } unless @lock

        @lock.owned? ? yield(@clients) : @lock.synchronize { use(@clients, &block) }
      end
      alias then with

      private

      # Nothing interrupts the closing.
      def use(client)
        Thread.handle_interrupt(Interrupts::DEFERRED) do
          whole = false
          begin
            Thread.handle_interrupt(Interrupts::IMMEDIATE) do
              answer = yield client
              whole = true
              answer
            end
          rescue *@errors
            whole = true
            raise
          ensure
            @close.call(client) unless whole
          end
        end
      end
    end
  end
end
