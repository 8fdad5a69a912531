# frozen_string_literal: true

# Owns the question which compressor is fastest at which speed of a wire: its work, and then the bytes that are left to
# be sent. Knows nothing of how either was measured.

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
          @reaches ||= begin
            found = []
            best = @lines.min_by { |line| [line.seconds, line.bytes] }
            limit = nil
            while best
              following, from = overtaking(best)
              found.unshift(Reach.new(name: best.name, from: from || 0.0, to: limit))
              best = following
              limit = from
            end
            found
          end
        end

        # @return [Array<String>] those that are nowhere the fastest
        def never
          @lines.map(&:name) - reaches.map(&:name)
        end

        private

        # Who takes over where the wire becomes slower, and below how many bits a second.
        def overtaking(best)
          rivals = @lines.select { |line| line.bytes < best.bytes }
          rival = rivals.max_by { |line| crossing(best, line) }
          rival && [rival, crossing(best, rival)]
        end

        def crossing(quick, small)
          saved = (quick.bytes - small.bytes) * 8
          extra = small.seconds - quick.seconds
          extra.positive? ? saved / extra : Float::INFINITY
        end
      end
    end
  end
end
