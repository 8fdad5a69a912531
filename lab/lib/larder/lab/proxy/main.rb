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
      #   put          has left                    arrives
      #    |--waiting--|--bytes * 8 / bandwidth--|--delay--|
      class Direction
        # `delay` is half of a round trip in seconds; `bandwidth` in bits a second, 0: no limit.
        def initialize(delay, bandwidth)
          @delay = delay
          @seconds_per_byte = bandwidth.zero? ? 0.0 : 8.0 / bandwidth
          @free_at = 0.0
          @parcels = []
        end

        # Sends a chunk (nil: the end) to the receiver `side` now.
        def put(side, chunk, at)
          @free_at = [@free_at, at].max + (chunk.to_s.bytesize * @seconds_per_byte)
          @parcels << [@free_at + @delay, side, chunk]
        end

        # When the next chunk arrives; nil: nothing is on its way.
        def due = @parcels.first&.first

        # The next side and chunk that have arrived by now.
        def take(at)
          @parcels.shift.drop(1) if @parcels.any? && due <= at
        end
      end

      # One end of a connection: its socket, the `other` side, the way there, and what its socket has not taken yet.
      Side = Struct.new(:socket, :other, :way, :outbox, :ended)

      # Accepts connections and passes on what they say. Waits for the next event, a socket or an arrival, and not
      # longer. One thread; nothing in it blocks but connecting to the server.
      class Relay
        # Bytes of a chunk, at most.
        CHUNK = 65_536
        # Errors of a side that has gone.
        GONE = [Errno::ECONNRESET, Errno::EPIPE, Errno::ENOTCONN, Errno::ETIMEDOUT, IOError].freeze
        # Errors of a server that cannot be reached.
        UNREACHABLE = [SystemCallError, SocketError, IOError].freeze

        # `lead` is how many seconds late a sleep of this system ends. The block connects to the server.
        def initialize(listener, rtt, bandwidth, lead, &connect)
          @listener = listener
          @there, @back = Array.new(2) { Direction.new(rtt / 2, bandwidth) }
          @lead = lead
          @connect = connect
          @reading = {}.compare_by_identity
          @writing = {}.compare_by_identity
        end

        # Relays until standard input ends.
        def run
          loop do
            # The list is made again only where it has changed: the time of this loop is part of every round trip.
            @readers ||= [$stdin, @listener, *@reading.keys]
            readable, writable = IO.select(@readers, @writing.keys, nil, patience)
            return if readable&.include?($stdin)

            writable&.each { |socket| flush(@writing[socket]) if @writing.key?(socket) }
            readable&.each { |socket| socket == @listener ? accept : read(@reading[socket]) }
            deliver
          end
        end

        private

        def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

        # Seconds to wait for the next arrival: the sleep ends a little early, and the rest is waited for by looking
        # again and again. nil: nothing is on its way.
        def patience
          due = [@there.due, @back.due].compact.min
          due && [due - now - @lead, 0].max
        end

        def accept
          socket = @listener.accept
          server = @connect.call
        rescue *UNREACHABLE => error
          warn error.message
          socket&.close
        else
          client, far = [socket, server].zip([@there, @back]).map { |each, way| Side.new(each, nil, way, []) }
          client.other, far.other = far, client
          [client, far].each { |side| watch(side) }
        end

        # Bytes go out at once, however few.
        def watch(side)
          side.socket.setsockopt(:TCP, :NODELAY, true) if side.socket.is_a?(TCPSocket)
          @reading[side.socket] = side
          @readers = nil
        end

        # Bytes that need no delay are passed on before others are read.
        def read(side)
          return unless side # closed since

          chunk = side.socket.read_nonblock(CHUNK, exception: false)
          return if chunk == :wait_readable

          side.way.put(side.other, chunk, now)
          @readers = nil if chunk.nil? && @reading.delete(side.socket)
          deliver
        rescue *GONE
          close(side)
        end

        def deliver
          at = now
          [@there, @back].each do |way|
            while (side, chunk = way.take(at))
              side.outbox << chunk
              flush(side) if side.outbox.size == 1 && !side.socket.closed?
            end
          end
        end

        # Writes as much as the socket takes. The end is passed on behind everything else.
        def flush(side)
          @writing.delete(side.socket)
          until side.outbox.empty?
            chunk = side.outbox.first or return finish(side)
            written = side.socket.write_nonblock(chunk, exception: false)
            return @writing[side.socket] = side if written == :wait_writable

            written == chunk.bytesize ? side.outbox.shift : side.outbox[0] = chunk.byteslice(written..)
          end
        rescue *GONE
          close(side)
        end

        def finish(side)
          side.ended = true
          side.other.ended ? close(side) : side.socket.close_write
        end

        def close(side)
          [side, side.other].each do |each|
            [@reading, @writing].each { |all| all.delete(each.socket) }
            each.socket.close
          end
          @readers = nil
        end
      end

      # What the arguments mean.
      module Main
        # Seconds for reaching the server.
        PATIENCE = 5
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
          listener = path ? UNIXServer.new(path) : TCPServer.new("127.0.0.1", 0)
          listener.listen(Socket::SOMAXCONN)
          connect(target).close
          $stdout.puts(path || listener.addr[1])
          $stdout.flush
          Relay.new(listener, Float(rtt), Float(bandwidth), lead) { connect(target) }.run
        rescue *Relay::UNREACHABLE => error
          abort error.message
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
            IO.select(nil, nil, nil, SLEEP)
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
