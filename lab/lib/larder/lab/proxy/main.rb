# frozen_string_literal: true

# The process of the proxy, apart from the measured process, so that it takes none of its time. It ends when its
# standard input closes, which the kernel does even if the lab was killed with SIGKILL. Plain Ruby without gems, so
# that it starts in a few milliseconds. Prints where it listens, and what goes wrong to standard error.
#
#   ruby --disable=gems main.rb TARGET RTT BANDWIDTH [SOCKET]
#
# TARGET: path of the server's Unix socket, or host:port; RTT in seconds; BANDWIDTH in bits a second, 0: no limit;
# SOCKET: path of the Unix socket to make, otherwise any port of the loopback interface.

require "socket"

module Larder
  module Lab
    class Proxy
      # One direction of the network, which all connections share. A chunk leaves when those before it have left, takes
      # its bits over the bandwidth to do so, then travels for the delay; what was put in first comes out first.
      #
      #   read         has left                    arrives
      #    |--waiting--|--bytes * 8 / bandwidth--|--delay--|
      class Direction
        # Bytes of a chunk, at most.
        CHUNK = 65_536
        # Errors of a side that has gone.
        GONE = [Errno::ECONNRESET, Errno::EPIPE, Errno::ENOTCONN, Errno::ETIMEDOUT, IOError].freeze

        # `delay` is half of a round trip in seconds; `bandwidth` in bits a second, 0: no limit; `lead` is how many
        # seconds late a sleep of this system ends.
        def initialize(delay, bandwidth, lead)
          @delay = delay
          @seconds_per_byte = bandwidth.zero? ? 0.0 : 8.0 / bandwidth
          @lead = lead
          @lock = Mutex.new
          @free_at = 0.0
        end

        # Passes on all that one socket says to the other, and its end. Answers the threads that do so.
        def pass(from, to)
          under_way = Thread::Queue.new
          [Thread.new { read(from, under_way) }, Thread.new { deliver(under_way, from, to) }]
        end

        private

        def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

        # A broken connection ends as a closed one does.
        def read(from, under_way)
          loop do
            chunk = from.readpartial(CHUNK)
            under_way << [arrival(chunk.bytesize), chunk]
          end
        rescue *GONE # EOFError is an IOError
          under_way << [arrival(0)]
        end

        # When that number of bytes arrives, which are sent now.
        def arrival(bytes)
          @lock.synchronize { @free_at = [@free_at, now].max + (bytes * @seconds_per_byte) } + @delay
        end

        # A side that takes no more has nothing more to say, either.
        def deliver(under_way, from, to)
          loop do
            at, chunk = under_way.pop
            wait_until(at)
            break to.close_write unless chunk

            to.write(chunk)
          end
        rescue *GONE
          [from, to].each(&:close)
        end

        # The sleep ends a little early, and the rest is waited for by looking again and again.
        def wait_until(time)
          left = time - now - @lead
          sleep(left) if left.positive?
          nil while now < time
        end
      end

      # What the arguments mean.
      module Main
        # Seconds for reaching the server, and errors if it cannot be reached.
        PATIENCE = 5
        UNREACHABLE = [SystemCallError, SocketError, IOError].freeze
        # How often, and how many seconds long, it sleeps to find out how late sleeps end.
        SLEEPS = 31
        SLEEP = 0.0002
        # Seconds before an arrival in which the proxy stays awake, at most.
        LONGEST_LEAD = 0.0001

        module_function

        # As the program is called, see above.
        def run(target, rtt, bandwidth, path = nil)
          sharpen_timers
          lead = oversleep
          ways = Array.new(2) { Direction.new(Float(rtt) / 2, Float(bandwidth), lead) }
          listener = path ? UNIXServer.new(path) : TCPServer.new("127.0.0.1", 0)
          listener.listen(Socket::SOMAXCONN)
          connect(target).close
          $stdout.puts(path || listener.addr[1])
          $stdout.flush
          Thread.new { loop { Thread.start(listener.accept) { |client| serve(client, target, ways) } } }
          $stdin.read
        rescue *UNREACHABLE => error
          abort error.message
        end

        # Each client has a connection of its own to the server. Bytes go out at once, however few.
        def serve(client, target, (there, back))
          sockets = [client, connect(target)]
          sockets.grep(TCPSocket).each { |socket| socket.setsockopt(:TCP, :NODELAY, true) }
          (there.pass(*sockets) + back.pass(*sockets.reverse)).each(&:join)
        rescue *UNREACHABLE => error
          warn error.message
        ensure
          [client, *sockets].each(&:close)
        end

        # Linux lets a sleeping process oversleep by 50 microseconds unless it is told not to.
        def sharpen_timers
          File.write("/proc/self/timerslack_ns", "1")
        rescue SystemCallError
          nil
        end

        # The seconds that a short sleep ends late, which is most of it on a virtual machine.
        def oversleep
          late = Array.new(SLEEPS) do
            started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
            sleep SLEEP
            Process.clock_gettime(Process::CLOCK_MONOTONIC) - started - SLEEP
          end
          late.sort[SLEEPS / 2].clamp(0.0, LONGEST_LEAD)
        end

        def connect(target)
          return UNIXSocket.new(target) if target.start_with?("/")

          host, _, port = target.rpartition(":")
          TCPSocket.new(host, Integer(port), connect_timeout: PATIENCE)
        end
      end
    end
  end
end

%w[INT HUP].each { |signal| trap(signal, "IGNORE") }
trap("TERM") { exit!(0) }
Larder::Lab::Proxy::Main.run(*ARGV)
