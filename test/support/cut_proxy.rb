# frozen_string_literal: true

# Stands between clients and a server on a Unix socket. After a number of requests it cuts all connections, or lets them
# hang, as a server that is killed or stopped at that point.

require "socket"

# Runs in threads of the process.
class CutProxy
  CHUNK = 65_536

  # @return [Integer] of the loopback interface
  attr_reader :port

  # @param path [String] of the server's socket
  def initialize(path)
    @path = path
    @mutex = Mutex.new
    @healed = ConditionVariable.new
    @left = nil
    @refused = 0
    @pairs = []
    @listener = TCPServer.new("127.0.0.1", 0)
    @port = @listener.addr[1]
    @accepting = Thread.new { loop { accept(@listener.accept) } }
    @accepting.report_on_exception = false
  end

  # @param after [Integer] requests that are passed on before
  # @param hang [Boolean] leave requests without an answer instead of cutting connections
  # @return [void]
  def cut(after: 0, hang: false)
    @mutex.synchronize do
      @left = after
      @hang = hang
      @refused = 0
    end
  end

  # @return [Integer] requests and connections that were not served since the cut
  def refused
    @mutex.synchronize { @refused }
  end

  # @return [void]
  def heal
    @mutex.synchronize do
      @left = nil
      @healed.broadcast
    end
  end

  # @return [void]
  def stop
    heal
    @listener.close
    @mutex.synchronize { @pairs.dup }.flatten.each(&:close)
  end

  private

  def accept(client)
    return client.close if dead?

    pair = [client, UNIXSocket.new(@path)]
    @mutex.synchronize { @pairs << pair }
    Thread.new { pass(*pair) { serve? } }
    Thread.new { pass(*pair.reverse) { true } }
  end

  def dead?
    @mutex.synchronize { @left&.zero? && !@hang && (@refused += 1) }
  end

  def pass(from, to)
    loop do
      bytes = from.readpartial(CHUNK)
      break unless yield

      to.write(bytes)
    end
  rescue IOError, SystemCallError
    nil
  ensure
    [from, to].each(&:close)
  end

  # Waits while requests hang. Those that have waited are not served.
  def serve?
    @mutex.synchronize do
      return true if @left.nil?
      return (@left -= 1) || true if @left.positive?

      @refused += 1
      @healed.wait(@mutex) while @hang && @left
      false
    end
  end
end
