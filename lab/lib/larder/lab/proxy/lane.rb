# frozen_string_literal: true

# One direction of one connection: reads from one socket, writes what has arrived to the other, and passes the end of
# either on. Never waits. Loaded by the proxy's process, so plain Ruby without gems.

require "socket"

module Larder
  module Lab
    class Proxy
      # From one side of a connection to the other, by way of a {Link}.
      class Lane
        # Bytes of a chunk, at most.
        CHUNK = 65_536
        # Bytes on their way beyond which nothing more is read, as a TCP window would have it.
        WINDOW = 16 * 1024 * 1024
        # Errors that say that the other side has gone.
        GONE = [Errno::ECONNRESET, Errno::EPIPE, Errno::ENOTCONN, Errno::ETIMEDOUT, Errno::ECONNABORTED,
                Errno::EHOSTUNREACH, IOError].freeze

        # @return [BasicSocket]
        attr_reader :source
        # @return [BasicSocket]
        attr_reader :sink
        # @return [Connection]
        attr_reader :connection

        # @param connection [Connection]
        # @param link [Link]
        def initialize(connection, source, sink, link)
          @connection = connection
          @source = source
          @sink = sink
          @link = link
          @outbox = []
          @pending = 0
          @reading = true
        end

        # @return [Boolean] is there reason to read from the source?
        def wants_input?
          @reading && @pending < WINDOW
        end

        # @return [Boolean] is something left that the sink did not take?
        def wants_output?
          !@outbox.empty?
        end

        # @return [Boolean] has the end been passed on?
        def ended?
          @ended == true
        end

        # Puts what there is to read on its way, or the end of it.
        # @param at [Float] now
        # @return [void]
        def read(at)
          chunk = @source.read_nonblock(CHUNK, exception: false)
          case chunk
          when :wait_readable then nil
          when nil then finish(:eof, at)
          else
            @pending += chunk.bytesize
            @link.put(self, chunk, chunk.bytesize, at)
          end
        rescue *GONE
          finish(:reset, at)
        end

        # Reads no more, and lets the other side know in due time.
        # @param how [Symbol] :eof or :reset
        # @param at [Float] now
        # @return [void]
        def finish(how, at)
          return unless @reading

          @reading = false
          @link.put(self, how, 0, at)
        end

        # What has arrived is written, or waits until the sink takes it.
        # @param chunk [String, Symbol] bytes, :eof or :reset
        # @param at [Float] now
        # @return [void]
        def deliver(chunk, at)
          @outbox << chunk
          flush(at) if @outbox.size == 1
        end

        # Writes as much as the sink takes.
        # @param at [Float] now
        # @return [void]
        def flush(at)
          while (chunk = @outbox.first)
            return conclude(chunk) if chunk.is_a?(Symbol)

            written = @sink.write_nonblock(chunk, exception: false)
            return if written == :wait_writable

            @pending -= written
            written == chunk.bytesize ? @outbox.shift : @outbox[0] = chunk.byteslice(written..)
          end
        rescue *GONE
          break_off(at)
        end

        private

        # The sink is gone: what comes for it is dropped, and whoever sends it learns that.
        def break_off(at)
          @outbox.clear
          @reading = false
          @ended = true
          @connection.opposite(self).finish(:reset, at)
        end

        def conclude(how)
          @outbox.clear
          @ended = true
          how == :reset ? @connection.reset : @sink.close_write
        end
      end
    end
  end
end
