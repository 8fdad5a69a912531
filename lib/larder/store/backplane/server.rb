# frozen_string_literal: true

# What the servers of messages share.

module Larder
  module Store
    class Backplane
      # A subclass has `connect`, which answers a new connection.
      # @api private
      class Server
        def initialize
          @mutex = Mutex.new
        end

        private

        # Yields this process's connection for messages that it sends.
        def publishing
          @mutex.synchronize do
            @publisher = connect unless @pid == Process.pid
            @pid = Process.pid
            yield @publisher
          end
        end

        # The next message gets another connection. Yields before.
        def reconnecting
          @mutex.synchronize do
            @publisher&.close
            @pid = nil
            yield if block_given?
          end
        end
      end
    end
  end
end
