# frozen_string_literal: true

# Computes break-even points: which of several straight lines is the lowest, and from where to where. Knows nothing of
# codecs, stores or measuring.

module Larder
  module Lab
    # The lower envelope of straight lines. What something costs is `fixed + slope * x`, where x is what may change: a
    # round trip's time, reads for each write, or the seconds that a bit is on the wire.
    #
    # @example
    #   lines = [BreakEven::Line.new(name: "a", fixed: 1.0, slope: 3.0), BreakEven::Line.new(name: "b", fixed: 2.0,
    #                                                                                        slope: 1.0)]
    #   BreakEven.new(lines).pieces.map(&:name)   # => ["a", "b"]: b is lower from x = 0.5 on
    class BreakEven
      # name: anything; fixed: cost where x is 0; slope: cost that each x adds
      Line = Struct.new(:name, :fixed, :slope, keyword_init: true)
      # Where a line is the lowest. to: Infinity where nothing follows
      Piece = Struct.new(:name, :from, :to, keyword_init: true)

      # For compressors. What has to be sent takes `seconds + 8 * bytes / bandwidth`, so x is the seconds that one bit
      # takes, and a bandwidth is 1 / x.
      # @param figures [Hash{Object=>Array(Numeric, Numeric)}] bytes, and seconds of work, by name
      # @return [BreakEven]
      def self.of_bandwidth(figures)
        new(figures.map { |name, (bytes, seconds)| Line.new(name: name, fixed: seconds, slope: 8.0 * bytes) })
      end

      # @param lines [Array<Line>]
      def initialize(lines)
        @lines = lines
      end

      # @return [Array<Piece>] from x = 0 on; of equal lines the first
      def pieces
        @pieces ||= walk
      end

      # The same by bandwidth, from the slowest wire to one without limit.
      # @return [Array<Piece>] bits a second
      def by_bandwidth
        pieces.reverse.map do |piece|
          Piece.new(name: piece.name, from: inverse(piece.to), to: inverse(piece.from))
        end
      end

      private

      # At each point the next line is the one that is met first, going right, by a flatter one.
      def walk
        return [] if @lines.empty?

        at = 0.0
        lowest = @lines.min_by { |line| [line.fixed, line.slope] }
        found = []
        loop do
          point, follower = successor(lowest, at)
          found << Piece.new(name: lowest.name, from: at, to: point || Float::INFINITY)
          return found unless follower

          at = point
          lowest = follower
        end
      end

      def successor(lowest, from)
        met = @lines.filter_map do |line|
          point = line.slope < lowest.slope && meeting(lowest, line)
          [point, line] if point && point >= from
        end
        met.min_by { |point, line| [point, line.slope] }
      end

      def meeting(one, other)
        return if one.slope == other.slope

        point = (other.fixed - one.fixed) / (one.slope - other.slope)
        point if point.positive?
      end

      def inverse(number)
        return Float::INFINITY if number.zero?

        number.infinite? ? 0.0 : 1.0 / number
      end
    end
  end
end
