# frozen_string_literal: true

# Stands between a client and a server on a Unix socket, passes answers on after a delay, holds requests back, and is
# silent in both directions.

require "socket"

# Runs in threads of the process.
class SlowProxy
  CHUNK = 65_536

  # @return [Numeric] seconds
  attr_accessor :delay
  # @return [Boolean] is nothing passed on, as over a link that drops packets?
  attr_accessor :silent
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

  # Holds requests back.
  #
  # @param pattern [Regexp] of their bytes
  # @return [void]
  def hold(pattern = //)
    @held = [pattern, Queue.new]
  end

  # Passes on what is held, and all that follows.
  #
  # @return [void]
  def release
    @held&.last&.close
    @held = nil
  end

  # @return [void]
  def stop
    @listener.close
    @threads.each(&:kill)
  end

  private

  def join(client)
    server = UNIXSocket.new(@path)
    @threads << pass(client, server) { |bytes| await_release(bytes) } << pass(server, client) { sleep(delay) }
  rescue SystemCallError # there is no server, and the client has to see that
    client.close
  end

  def await_release(bytes)
    pattern, gate = @held
    gate.pop if pattern&.match?(bytes)
  end

  def pass(from, to)
    Thread.new do
      loop do
        bytes = from.readpartial(CHUNK)
        yield bytes
        sleep(0.01) while silent
        to.write(bytes)
      end
    rescue IOError, SystemCallError
      [from, to].each(&:close)
    end
  end
end
