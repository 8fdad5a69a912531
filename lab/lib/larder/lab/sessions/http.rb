# frozen_string_literal: true

# The part of HTTP/1.1 that requests pages over one connection that is kept open: a GET, and the whole of its answer.
# No redirects, no other methods, nothing compressed.

require "io/wait"
require "socket"
require_relative "../errors"

module Larder
  module Lab
    module Sessions
      # One connection, and another where it breaks.
      class Http
        # What came is no answer, or not the whole of one. The next request goes over a new connection.
        class Broken < Lab::Error; end

        # status: a number; head: lines before the body, as they came; bytes: of the body
        Answer = Struct.new(:status, :head, :bytes)

        # Seconds that an answer may take to begin.
        PATIENCE = 10
        STATUS = %r{\AHTTP/1\.1 (\d{3}) }

        # @param host [String]
        # @param port [Integer]
        def initialize(host, port)
          @host = host
          @port = port
        end

        # @param path [String]
        # @param cookie [String, nil] "name=value"
        # @return [Answer]
        # @raise [Broken]
        def get(path, cookie = nil)
          ask(path, cookie)
          raise Broken, "no answer within #{PATIENCE} s" unless socket.wait_readable(PATIENCE)

          head = line_of_answer("\r\n\r\n")
          status = head[STATUS, 1] or raise Broken, "an answer that begins with #{head[0, 40].inspect}"
          Answer.new(status.to_i, head, body(head))
        rescue SystemCallError, Broken => error
          close
          raise Broken, error.message
        end

        # @return [void]
        def close
          @socket&.close
          @socket = nil
        end

        private

        def socket
          @socket ||= TCPSocket.new(@host, @port).tap { |socket| socket.setsockopt(:TCP, :NODELAY, true) }
        end

        def ask(path, cookie)
          socket.write("GET #{path} HTTP/1.1\r\nHost: #{@host}:#{@port}\r\n#{"Cookie: #{cookie}\r\n" if cookie}\r\n")
        end

        def body(head)
          length = head[/^content-length: *(\d+)/i, 1]
          return read(length.to_i) if length
          return chunks if head.match?(/^transfer-encoding: *chunked/i)

          raise Broken, "an answer without a length: #{head.lines.first}"
        end

        def chunks
          bytes = 0
          until (size = line_of_answer("\r\n").hex).zero?
            bytes += read(size)
            read(2)
          end
          read(2)
          bytes
        end

        def read(size)
          return 0 if size.zero?

          socket.read(size)&.bytesize == size ? size : ended
        end

        def line_of_answer(ending)
          line = socket.gets(ending)
          line&.end_with?(ending) ? line : ended
        end

        def ended
          raise Broken, "the connection was closed before the answer ended"
        end
      end
    end
  end
end
