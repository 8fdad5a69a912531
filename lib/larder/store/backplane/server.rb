# frozen_string_literal: true

# What the servers of messages share.

module Larder
  module Store
    class Backplane
      # A subclass has `connect`, which answers a new connection. One thread at a time publishes.
      # @api private
      class Server
        private

        # Yields this process's connection for messages that it sends.
        def publishing
          @publisher = connect unless @pid == Process.pid
          @pid = Process.pid
          yield @publisher
        end

        # The next message gets another connection.
        def reconnecting
          @publisher&.close
          @pid = nil
        end
      end
    end
  end
end
