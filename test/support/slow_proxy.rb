# frozen_string_literal: true

# Stands between a client and a server on a Unix socket. It passes answers on after a delay, and may hold bytes back.

require "socket"

# Runs in threads of the process.
class SlowProxy
  CHUNK = 65_536
  # Parts that may be held back.
  REQUESTS = %i[requests].freeze
  BOTH = %i[requests answers].freeze

  # @return [Numeric] seconds
  attr_accessor :delay
  # @return [Integer] of the loopback interface
  attr_reader :port

  # @param path [String] of the server's socket
  def initialize(path)
    @path = path
    @delay = 0
    @mutex = Mutex.new
    @released = ConditionVariable.new
    @waiting = @passing = 0
    @listener = TCPServer.new("127.0.0.1", 0)
    @port = @listener.addr[1]
    @threads = [Thread.new { loop { join(@listener.accept) } }]
    @threads.first.report_on_exception = false
  end

  # Keeps bytes that come from now on.
  #
  # @param pattern [Regexp] of the bytes
  # @param of [Array<Symbol>] requests, answers
  # @return [void]
  def hold(pattern = //n, of: REQUESTS)
    @mutex.synchronize { @held = [pattern, of] }
  end

  # @return [Boolean] has it kept anything?
  def holds?
    @mutex.synchronize { @waiting.positive? }
  end

  # @return [Boolean] has everything that it has received left it?
  def idle?
    @mutex.synchronize { @passing.zero? }
  end

  # Passes on what it has kept, and all that follows.
  # @return [void]
  def release
    @mutex.synchronize do
      @held = nil
      @released.broadcast
    end
  end

  # @return [void]
  def stop
    @listener.close
    @threads.each(&:kill)
  end

  private

  def join(client)
    server = UNIXSocket.new(@path)
    @threads << pass(client, server, :requests) << pass(server, client, :answers)
  rescue SystemCallError # there is no server, and the client has to see that
    client.close
  end

  # The bytes that a client has sent are passed on, also if it has closed its connection since.
  def pass(from, to, part)
    Thread.new do
      loop do
        bytes = from.readpartial(CHUNK)
        count(1)
        sleep(delay) if part == :answers
        keep(part, bytes)
        to.write(bytes)
      ensure
        count(-1) if bytes
      end
    rescue IOError, SystemCallError
      to.close
    end
  end

  def count(number)
    @mutex.synchronize { @passing += number }
  end

  def keep(part, bytes)
    @mutex.synchronize do
      @waiting += 1
      @released.wait(@mutex) while held?(part, bytes)
      @waiting -= 1
    end
  end

  def held?(part, bytes)
    pattern, parts = @held
    parts&.include?(part) && pattern.match?(bytes)
  end
end
