# frozen_string_literal: true

# The loop of the proxy: waits for the next event, a socket or an arrival, and not longer. One thread; nothing in it
# blocks but connecting to the server. Loaded by the proxy's process, so plain Ruby without gems.

require "socket"
require_relative "connection"
require_relative "link"

module Larder
  module Lab
    class Proxy
      # Accepts connections on its routes and passes on what they say.
      class Relay
        # There is no way to the server; the message says why.
        class Unreachable < StandardError; end

        # Seconds to wait where there is no descriptor left for a client.
        SHORTAGE = 0.01

        # One wire: where it is entered, and its two directions, which all its connections share.
        Route = Struct.new(:listener, :there, :back) do
          # @param listener [TCPServer, UNIXServer]
          # @param rtt [Float] seconds
          # @param bandwidth [Float, nil] bits a second, each way
          # @return [Route]
          def self.over(listener, rtt, bandwidth)
            new(listener, Link.new(rtt / 2, bandwidth), Link.new(rtt / 2, bandwidth))
          end
        end

        # @param routes [Array<Route>]
        # @param duty [IO] at its end the relay ends
        # @param complaints [IO] for what went wrong, a line each
        # @param lead [Float] seconds by which a sleep of this system ends late
        # @yieldreturn [BasicSocket] a new connection to the server; raises {Unreachable}
        def initialize(routes, duty, complaints, lead: 0.0, &connect)
          @routes = routes.to_h { |route| [route.listener, route] }.compare_by_identity
          @links = routes.flat_map { |route| [route.there, route.back] }
          @duty = duty
          @complaints = complaints
          @lead = lead
          @connect = connect
          @connections = []
        end

        # Relays until the duty ends.
        # @return [void]
        def run
          changed
          loop do
            watch if @changed
            readable, writable = IO.select(@readers, @writers, nil, patience)
            return if readable&.include?(@duty)

            writable&.each { |socket| flush(@outputs[socket]) }
            readable&.each { |socket| (lane = @inputs[socket]) ? take(lane) : accept(socket) }
            deliver
          end
        end

        private

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # Which sockets to wait for is found out again only where that may have changed: the loop is short, as its time
        # is added to every round trip.
        def changed
          @changed = true
        end

        def watch
          @changed = false
          @inputs = {}.compare_by_identity
          @outputs = {}.compare_by_identity
          @connections.reject!(&:closed?)
          @connections.flat_map(&:lanes).each do |lane|
            @inputs[lane.source] = lane if lane.wants_input?
            @outputs[lane.sink] = lane if lane.wants_output?
          end
          @readers = [@duty, *@routes.keys, *@inputs.keys]
          @writers = @outputs.keys
        end

        # Seconds to wait for the next arrival: the sleep ends a little early, and the rest is waited for by looking
        # again and again. nil: nothing is on its way.
        def patience
          due = nil
          @links.each do |link|
            at = link.next_due
            due = at if at && (due.nil? || at < due)
          end
          return unless due

          left = due - now - @lead
          left.positive? ? left : 0
        end

        # A read that needs no delay is passed on at once, before others are read.
        def take(lane)
          return if lane.source.closed?

          lane.read(now)
          changed unless lane.wants_input?
          deliver
        end

        def flush(lane)
          lane.flush(now) unless lane.sink.closed?
          changed
        end

        def deliver
          at = now
          @links.each do |link|
            while (parcel = link.take(at))
              hand_over(parcel.lane, parcel.chunk, at)
            end
          end
        end

        def hand_over(lane, chunk, at)
          full = !lane.wants_input?
          lane.deliver(chunk, at) unless lane.sink.closed?
          changed if full || lane.wants_output? || lane.ended?
        end

        def accept(listener)
          client = listener.accept_nonblock(exception: false)
          return if client == :wait_readable

          route = @routes.fetch(listener)
          @connections << Connection.new(client, @connect.call, route.there, route.back)
          @complaint = nil
          changed
        rescue SystemCallError, Unreachable => error
          client ? Connection.abort(client) : sleep(SHORTAGE)
          complain(error.message)
        end

        # Clients that try again and again do not fill the log.
        def complain(message)
          @complaints.puts(message) unless message == @complaint
          @complaint = message
        end
      end
    end
  end
end
