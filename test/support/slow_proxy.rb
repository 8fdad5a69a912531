# frozen_string_literal: true

# Stands between a client and a server on a Unix socket, and passes answers on after a delay, or nothing for a while.

require "socket"

# Runs in threads of the process.
class SlowProxy
  CHUNK = 65_536

  # @return [Numeric] seconds
  attr_accessor :delay
  # @return [Boolean] is nothing passed on, as over a link that drops packets?
  attr_accessor :hold
  # @return [Integer] of the loopback interface
  attr_reader :port

  # @param path [String] of the server's socket
  def initialize(path)
    @path = path
    @delay = 0
    @listener = TCPServer.new("127.0.0.1", 0)
    @port = @listener.addr[1]
    @threads = [Thread.new { loop { join(@listener.accept) } }]
    @threads.first.report_on_exception = false
  end

  # @return [void]
  def stop
    @listener.close
    @threads.each(&:kill)
  end

  private

  def join(client)
    server = UNIXSocket.new(@path)
    @threads << pass(client, server) { nil } << pass(server, client) { sleep(delay) }
  end

  def pass(from, to)
    Thread.new do
      loop do
        bytes = from.readpartial(CHUNK)
        yield
        sleep(0.01) while hold
        to.write(bytes)
      end
    rescue IOError, SystemCallError
      [from, to].each(&:close)
    end
  end
end
