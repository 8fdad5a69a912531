# frozen_string_literal: true

# A process between the machines and the servers. Each link is a port of the loopback interface whose connections it
# passes on to one server, and can be delayed, held up in one direction or in both, reset, and refuse connections. Bytes
# that were held up are passed on later, also when their client has gone, as by a network that loses packets for a
# while. Plain Ruby without gems.
#
#   ruby --disable=gems relay.rb PORT...
#
# One link for each port, of the server that it passes on to. Prints where they listen, a line for each. Then it reads
# lines and answers each with a line: "LINK pass", "LINK hold both|there|back|old", "LINK delay SECONDS", "LINK cut".
# "old" holds the connections of that moment, while new ones pass. Ends with its standard input.

require "socket"

module MachineProof
  # One process, one thread; waits for nothing but events.
  class Relay
    CHUNK = 65_536
    GONE = [SystemCallError, IOError].freeze
    # A close that sends RST instead of FIN.
    ABORT = [1, 0].pack("ii").freeze

    # One direction of a connection. `parcels` are pairs of a time from when on bytes may be passed on, and the bytes;
    # nil for the end.
    Pipe = Struct.new(:link, :direction, :from, :to, :parcels, :open)

    # One port and its connections.
    class Link
      HELD = { "both" => %w[there back], "there" => ["there"], "back" => ["back"], "old" => [] }.freeze
      private_constant :HELD

      # @return [TCPServer]
      attr_reader :listener
      # @return [Array<Pipe>]
      attr_reader :pipes
      # @return [Boolean]
      attr_reader :cut

      # @param port [Integer] of the server
      def initialize(port)
        @port = port
        @listener = TCPServer.new("127.0.0.1", 0)
        @pipes = []
        @held = @old = []
        @delay = 0
      end

      # @param order [Array<String>]
      def obey(order)
        what, how = order
        @held = what == "hold" ? HELD.fetch(how) : []
        @old = how == "old" ? @pipes.dup : []
        @delay = what == "delay" ? Float(how) : 0
        @cut = what == "cut"
        reset if @cut
      end

      # @return [void]
      def accept
        client = @listener.accept_nonblock
        return break_off(client) if @cut

        server = TCPSocket.new("127.0.0.1", @port)
        [client, server].each { |socket| socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) }
        @pipes << Pipe.new(self, "there", client, server, [], true) << Pipe.new(self, "back", server, client, [], true)
      rescue *GONE
        break_off(client) if client
      end

      # @return [void]
      def take(pipe, now)
        bytes = pipe.from.read_nonblock(CHUNK, exception: false)
        return if bytes == :wait_readable

        pipe.parcels << [now + @delay, bytes]
        pipe.open = !bytes.nil?
      rescue *GONE
        pipe.parcels << [now + @delay, nil]
        pipe.open = false
      end

      # @return [Float, nil] when there is something to pass on
      def due
        @pipes.filter_map { |pipe| pipe.parcels.first&.first unless held?(pipe) }.min
      end

      # @return [void]
      def pass_on(now)
        @pipes.each { |pipe| pass(pipe, now) unless held?(pipe) }
        @pipes.reject! { |pipe| pipe.to.closed? && (pipe.from.closed? || !pipe.open) }
      end

      private

      def held?(pipe)
        @held.include?(pipe.direction) || @old.any? { |one| one.equal?(pipe) }
      end

      def pass(pipe, now)
        while (at, bytes = pipe.parcels.first) && at <= now
          pipe.parcels.shift
          bytes ? pipe.to.write(bytes) : finish(pipe)
        end
      rescue *GONE
        close(pipe)
      end

      # The other direction goes on until its own end.
      def finish(pipe)
        pipe.to.close_write
      rescue *GONE
        close(pipe)
      ensure
        close(pipe) if @pipes.none? { |other| other.from.equal?(pipe.to) && (other.open || other.parcels.any?) }
      end

      def close(pipe)
        [pipe.from, pipe.to].each { |socket| socket.close unless socket.closed? }
      end

      def reset
        @pipes.map(&:from).each { |socket| break_off(socket) }
        @pipes.clear
      end

      def break_off(socket)
        socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, ABORT)
        socket.close
      rescue *GONE
        nil
      end
    end

    # @param ports [Array<Integer>] of servers
    def initialize(ports)
      @links = ports.map { |port| Link.new(port) }
    end

    # @return [void]
    def run
      @links.each { |link| $stdout.puts(link.listener.addr[1]) }
      $stdout.flush
      loop do
        readable, = IO.select([$stdin, *sources.keys], nil, nil, patience)
        return if readable&.include?($stdin) && !obey

        take(readable || [])
        @links.each { |link| link.pass_on(now) }
      end
    end

    private

    def sources
      listeners = @links.to_h { |link| [link.listener, link] }
      pipes = @links.flat_map(&:pipes).select { |pipe| pipe.open && !pipe.from.closed? }
      @sources = listeners.merge(pipes.to_h { |pipe| [pipe.from, pipe] })
    end

    def take(readable)
      readable.each do |socket|
        case (source = @sources[socket])
        when Link then source.accept
        when Pipe then source.link.take(source, now) unless socket.closed?
        end
      end
    end

    def patience
      due = @links.filter_map(&:due).min
      [due - now, 0].max if due
    end

    def obey
      line = $stdin.gets or return false
      number, *order = line.split
      @links.fetch(Integer(number)).obey(order)
      $stdout.puts("done")
      $stdout.flush
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end

if $PROGRAM_NAME == __FILE__
  %w[INT HUP].each { |signal| trap(signal, "IGNORE") }
  MachineProof::Relay.new(ARGV.map { |port| Integer(port) }).run
end
