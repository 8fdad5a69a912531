# frozen_string_literal: true

# The process of the proxy, apart from the measured process, so that it takes none of its time. It ends when its
# standard input closes, which the kernel does even if the lab was killed with SIGKILL. Plain Ruby without gems, so
# that it starts in a few milliseconds.
#
#   ruby --disable=gems main.rb SOCKET|HOST:PORT RTT,BANDWIDTH,LISTEN...
#
# RTT in seconds; BANDWIDTH in bits a second, "none" for no limit; LISTEN: path of a Unix socket to make, or empty for
# any port of the loopback interface. Prints where it listens, a line for each, and what goes wrong to standard error.

require "socket"
require_relative "relay"

# What the arguments mean.
module ProxyMain
  # Seconds for reaching the server.
  PATIENCE = 5
  # How often, and how many seconds long, it sleeps to find out how late sleeps end.
  SLEEPS = 31
  SLEEP = 0.0002
  # Seconds before an arrival in which the proxy stays awake, at most.
  LONGEST_LEAD = 0.0001

  module_function

  # @param target [String]
  # @param routes [Array<String>]
  # @return [void]
  def run(target, *routes)
    sharpen_timers
    lead = oversleep
    opened = routes.map { |route| open_route(route) }
    connect(target).close
    opened.each { |route| $stdout.puts(address(route.listener)) }
    $stdout.flush
    Larder::Lab::Proxy::Relay.new(opened, $stdin, $stderr, lead: lead) { connect(target) }.run
  rescue SystemCallError, Larder::Lab::Proxy::Relay::Unreachable => error
    abort error.message
  end

  # Linux lets a sleeping process oversleep by 50 microseconds unless it is told not to.
  def sharpen_timers
    File.write("/proc/self/timerslack_ns", "1")
  rescue SystemCallError
    nil
  end

  # @return [Float] seconds by which a short sleep ends late on this machine, which is most of it where it is virtual
  def oversleep
    late = Array.new(SLEEPS) do
      started = now
      IO.select(nil, nil, nil, SLEEP)
      now - started - SLEEP
    end
    late.sort[SLEEPS / 2].clamp(0.0, LONGEST_LEAD)
  end

  # @return [Float] seconds that only go forward
  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # @param text [String] RTT,BANDWIDTH,LISTEN
  # @return [Relay::Route]
  def open_route(text)
    rtt, bandwidth, path = text.split(",", 3)
    listener = path.empty? ? TCPServer.new("127.0.0.1", 0) : UNIXServer.new(path)
    listener.listen(Socket::SOMAXCONN)
    Larder::Lab::Proxy::Relay::Route.over(listener, Float(rtt), bandwidth == "none" ? nil : Float(bandwidth))
  end

  # @return [Integer, String] port, or path of a Unix socket
  def address(listener)
    listener.is_a?(UNIXServer) ? listener.path : listener.addr[1]
  end

  # @param target [String] path of a Unix socket, or host:port
  # @return [BasicSocket]
  # @raise [Relay::Unreachable]
  def connect(target)
    return UNIXSocket.new(target) if target.start_with?("/")

    host, _, port = target.rpartition(":")
    Socket.tcp(host, Integer(port), connect_timeout: PATIENCE)
  rescue SystemCallError, SocketError => error
    raise Larder::Lab::Proxy::Relay::Unreachable, "cannot reach #{target}: #{error.message[/\A[^-(]*[^-( ]/]}"
  end
end

%w[INT HUP].each { |signal| trap(signal, "IGNORE") }
trap("TERM") { exit!(0) }
$stderr.sync = true
ProxyMain.run(*ARGV)
