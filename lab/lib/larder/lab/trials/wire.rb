# frozen_string_literal: true

# Computes which compressor is fastest at which bandwidth: its work, plus the time of the remaining bytes on the
# network. Knows nothing of how either was measured.

require_relative "../break_even"

module Larder
  module Lab
    module Trials
      # Compressors on wires.
      class Wire
        # name: of a compressor; seconds: of its work, for one payload; bytes: what is left of that
        Line = Struct.new(:name, :seconds, :bytes, keyword_init: true) do
          # @param bandwidth [Numeric] bits a second
          # @return [Float] seconds until the payload has arrived
          def at(bandwidth)
            seconds + (bytes * 8 / bandwidth.to_f)
          end
        end
        # From which speed, in bits a second, to which one a compressor is the fastest. to: nil: however fast it is.
        Reach = Struct.new(:name, :from, :to, keyword_init: true)

        # @param lines [Array<Line>]
        def initialize(lines)
          @lines = lines
        end

        # @return [Array<Reach>] from the slowest wires to the fastest
        def reaches
          @reaches ||= break_even.by_bandwidth.map do |piece|
            Reach.new(name: piece.name, from: piece.from, to: (piece.to unless piece.to.infinite?))
          end
        end

        # @return [Array<String>] those that are nowhere the fastest
        def never
          @lines.map(&:name) - reaches.map(&:name)
        end

        private

        def break_even
          BreakEven.of_bandwidth(@lines.to_h { |line| [line.name, [line.bytes, line.seconds]] })
        end
      end
    end
  end
end
