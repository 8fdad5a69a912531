# frozen_string_literal: true

# A real Puma with workers, on a Unix socket, for tests that kill those; and a client that keeps its connection and its
# cookies.

require "json"
require "rbconfig"
require "socket"

# Starts Puma with a Rack application, given as source, and stops it.
class PumaCluster
  include Processes

  attr_reader :socket

  # @param directory [String] of its files
  # @param rackup [String] source
  # @param workers [Integer]
  # @param environment [String] of Rack and Rails
  def initialize(directory, rackup, workers: 2, env: {}, environment: "test")
    @socket = File.join(directory, "puma.socket")
    @log = File.join(directory, "puma.log")
    config = File.join(directory, "config.ru")
    File.write(config, rackup)
    arguments = ["-w", workers.to_s, "-t", "4:4", "-b", "unix://#{@socket}", "-e", environment, "--preload", config]
    lib = File.expand_path("../../lib", __dir__)
    @pid = Process.spawn(env, RbConfig.ruby, "-I#{lib}", Gem.bin_path("puma", "puma"), *arguments,
                         chdir: directory, out: @log, err: @log, pgroup: true)
    wait_until("#{workers} workers") { workers_now.size == workers && answers? }
  end

  # @return [Array<Integer>] process ids
  def workers_now
    Dir.glob("/proc/[0-9]*/stat").filter_map do |file|
      fields = File.read(file).sub(/\(.*\)/, "x").split
      fields[0].to_i if fields[3].to_i == @pid && fields[2] != "Z"
    rescue Errno::ENOENT, Errno::ESRCH
      nil
    end
  end

  # @param random [Random]
  # @return [Integer, nil] the process that was killed
  def kill_one(random)
    pid = workers_now.sample(random: random)
    Process.kill(:KILL, pid) if pid
    pid
  rescue Errno::ESRCH
    nil
  end

  # Puma's threads may wait for each other when it ends (puma/puma#3677).
  def stop
    end_server(@pid)
  end

  def log
    File.read(@log)
  end

  private

  def answers?
    UNIXSocket.open(@socket) { true }
  rescue SystemCallError
    false
  end

  def wait_until(what, &)
    return if eventually(&)

    Process.kill(:KILL, @pid)
    Process.wait(@pid)
    raise "no #{what}: #{log}"
  end
end

# One browser, as far as cookies go. A request whose connection breaks is made again, as long as it may take a killed
# worker to be replaced: then nobody knows whether the first was heard. So is one whose answer lacks its beginning: Puma
# may hand a connection on before it has emptied what it writes from.
class PumaClient
  PATIENCE = 120

  attr_accessor :cookie

  def initialize(socket, cookie: nil)
    @path = socket
    @cookie = cookie
  end

  # @return [Object] the body, read as JSON
  def get(target)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    begin
      once(target)
    rescue SystemCallError, IOError, JSON::ParserError
      close
      raise if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.01
      retry
    end
  end

  def close
    @io&.close
    @io = nil
  end

  private

  def once(target)
    @io ||= UNIXSocket.new(@path)
    @io.write("GET #{target} HTTP/1.1\r\nHost: localhost\r\n#{"Cookie: #{@cookie}\r\n" if @cookie}\r\n")
    status = line
    raise EOFError, "no answer begins with #{status.inspect}" unless status.start_with?("HTTP/1.")

    length = 0
    until (header = line).empty?
      name, value = header.split(": ", 2)
      length = value.to_i if name.casecmp?("content-length")
      @cookie = value[/\A[^;]+/] if name.casecmp?("set-cookie")
    end
    body = @io.read(length) || raise(EOFError)
    raise "#{status}: #{body}" unless status.include?(" 200 ")

    JSON.parse(body)
  end

  def line
    (@io.gets("\r\n") || raise(EOFError)).chomp
  end
end
