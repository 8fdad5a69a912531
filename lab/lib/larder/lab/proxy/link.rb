# frozen_string_literal: true

# Computes when bytes arrive: one direction of a network, as a queue that serialises. Reads no clock and touches no
# socket. Loaded by the proxy's process, so plain Ruby without gems.

module Larder
  module Lab
    class Proxy
      # A wire in one direction. A chunk leaves when those before it have left, takes its bits over the bandwidth to do
      # so, then travels for the delay; what was put in first comes out first.
      #
      #   put          has left                    arrives
      #    |--waiting--|--bytes * 8 / bandwidth--|--delay--|
      class Link
        # What is on its way: to whom, and what.
        Parcel = Struct.new(:due, :lane, :chunk)

        # @param delay [Float] seconds: half of a round trip
        # @param bandwidth [Float, nil] bits a second; nil: no limit
        def initialize(delay, bandwidth)
          @delay = delay
          @seconds_per_byte = bandwidth ? 8.0 / bandwidth : 0.0
          @free_at = 0.0
          @parcels = []
        end

        # @param lane [Object] whose it is
        # @param chunk [String, Symbol] bytes, or a mark that takes no room
        # @param bytes [Integer] its size
        # @param at [Float] now
        # @return [Float] when it arrives
        def put(lane, chunk, bytes, at)
          @free_at = [@free_at, at].max + (bytes * @seconds_per_byte)
          @parcels << Parcel.new(@free_at + @delay, lane, chunk)
          @free_at + @delay
        end

        # @return [Float, nil] when the next one arrives; nil: nothing is on its way
        def next_due
          @parcels.first&.due
        end

        # @param at [Float] now
        # @return [Parcel, nil] the next one, if it has arrived
        def take(at)
          parcel = @parcels.first
          @parcels.shift if parcel && parcel.due <= at
        end
      end
    end
  end
end
