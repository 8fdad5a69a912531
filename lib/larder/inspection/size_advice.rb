# frozen_string_literal: true

# Says whether a cache of another size would answer more reads.

require_relative "words"

module Larder
  module Inspection
    # Sentences and figures of {Cache#other_sizes}.
    class SizeAdvice
      # Names of the sizes, by how many times the present one they are.
      TIMES = { 0.5 => "half the size", 2.0 => "twice the size", 4.0 => "four times the size" }.freeze
      # A change of the hit ratio from which on another size is worth it.
      WORTH = 0.01
      MEBIBYTE = 1 << 20
      private_constant :TIMES, :WORTH, :MEBIBYTE

      # @param found [Hash] of {Cache#other_sizes}; sizes that a cache cannot have are left out
      # @param stats [Hash] of {Cache#stats}
      def initialize(found, stats)
        @found = { **found, sizes: found[:sizes].reject { |size| size[:size_bytes] < Cache::MIN_SIZE } }
        @stats = stats
      end

      # @return [Hash] as {Cache#other_sizes}, without sizes that a cache cannot have
      def figures
        @found
      end

      # @return [Boolean] is the hit ratio of another size estimated?
      def known?
        @found[:sizes].any? { |size| size[:hit_ratio] }
      end

      # @return [Array<String>] the answer, the most important sentence first
      def sentences
        return roomy unless @found[:evicts]
        return unknown unless known?
        return ["A larger file would help: #{compared(larger)}"] if larger
        return ["A smaller file would do: #{compared(smaller)}"] if smaller

        unchanged
      end

      # @return [Boolean] would a larger file answer clearly more reads?
      def larger?
        !!(@found[:evicts] && larger)
      end

      # @return [Integer, nil] the size to take, in mebibytes as `larder resize` takes them; nil: the present one
      def megabytes
        size = larger || smaller if @found[:evicts]
        size && size[:size_bytes].fdiv(MEBIBYTE).ceil
      end

      # @return [String, nil] the size that evicts nothing, in a sentence; nil: unknown
      def needed
        bytes, largest = @found[:needed_bytes], @found[:sizes].last
        if bytes then "With about #{Words.bytes(bytes)} nothing would have been evicted."
        elsif largest && largest[:hit_ratio]
          "To evict nothing, the file would need more than #{Words.bytes(largest[:size_bytes])}."
        end
      end

      # @return [Array<Hash>] `size_bytes`, `hit_ratio` and `error` of each size, by size; the present one has no error
      def sizes
        [@found.slice(:size_bytes, :hit_ratio), *@found[:sizes]].sort_by { |size| size[:size_bytes] }
      end

      private

      # The items need less than the file has: the rest is of values that were overwritten or deleted since.
      def roomy
        full = "The file is #{Words.percent(@stats[:fullness])} full"
        evicted, stored = @stats.values_at(:evictions, :sets)
        if evicted.zero?
          return ["Everything fits, and a larger file would not help: nothing was evicted.", "#{full}."]
        end

        ["A larger file would hardly help: the items need less than five eighths of this one.",
         "#{full}, also of values that were overwritten or deleted since.",
         "#{Words.count(evicted)} of #{Words.counted(stored, "stored item")} were evicted " \
         "(#{Words.percent(evicted.fdiv([stored, evicted].max))})."]
      end

      # The samples of the sizes are parts of the largest one.
      def unknown
        reads = Words.counted(@found[:sizes].map { |size| size[:reads] }.max, "read")
        ["Too few reads yet to tell: #{reads} of the sample so far.",
         "The sample grows while the cache is full and the application has it open."]
      end

      # The smallest size that has clearly more hits.
      def larger
        @found[:sizes].find { |other| gain(other) >= [WORTH, other[:error] || 1].max }
      end

      def smaller
        size = @found[:sizes].find { |other| other[:size_bytes] < @found[:size_bytes] && other[:hit_ratio] }
        size if size && size[:error] - gain(size) < WORTH
      end

      def unchanged
        known = @found[:sizes].select { |other| other[:size_bytes] > @found[:size_bytes] && other[:hit_ratio] }
        return ["Too few reads yet to tell whether a larger file would help."] if known.empty?

        ["A larger file would hardly help: #{compared(known.last)}"]
      end

      # How many more reads hit; negative where there are fewer.
      def gain(size)
        size[:hit_ratio] ? size[:hit_ratio] - @found[:hit_ratio] : -1
      end

      def compared(size)
        "#{TIMES.fetch(size[:size_bytes].fdiv(@found[:size_bytes]).round(1))} would answer about " \
          "#{Words.percent(size[:hit_ratio])} of reads instead of #{Words.percent(@found[:hit_ratio])}."
      end
    end
  end
end
