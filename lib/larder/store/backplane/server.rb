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
      end
    end
  end
end
