# frozen_string_literal: true

# Says whether the processes of a cache with long values give the memory of each value back to the system. It is advice,
# and no problem.

module Larder
  class Doctor
    # A check of {Doctor}.
    module HeapCheck
      # Bytes of a value on average, from which malloc costs more than the copy.
      LONG_ITEM = 10_000
      TRIM = "MALLOC_TRIM_THRESHOLD_"
      # In the environment: glibc's own names for the threshold.
      TRIMS = /(?:\A|\0)(?:#{TRIM}|GLIBC_TUNABLES=[^\0]*glibc\.malloc\.trim_threshold)=/
      # Its file has this name everywhere. An allocator that is loaded before it takes its place.
      GLIBC = %r{/libc\.so\.6$|/libc-2\.\d+\.so$}
      OTHER_ALLOCATOR = %r{/lib(?:jemalloc|tcmalloc|mimalloc)[^/]*$}
      KEPT_BYTES = 256 << 20
      private_constant :LONG_ITEM, :TRIM, :TRIMS, :GLIBC, :OTHER_ALLOCATOR, :KEPT_BYTES

      private

      def heap
        mean = mean_bytes
        return if mean.nil? || mean < LONG_ITEM

        giving = @pids.select { |pid| gives_memory_back?(pid) }
        return :sound if giving.empty?

        numbers = giving.sort.join(", ")
        [:sound, "its values have #{(mean / 1000.0).round} KB on average, and malloc of process #{numbers} gives the " \
                 "memory of such values back after each read: #{TRIM}=#{KEPT_BYTES} in the environment of the " \
                 "application makes reads faster (docs/reference/performance.md)"]
      end

      # Reads the sizes of some hundred items, which are in no order, unless the room that is taken shows that they are
      # short.
      #
      # @return [Float, nil] nil: there are none, or they are short
      def mean_bytes
        return if @stats.nil? || @stats[:used_bytes] < @stats[:items] * LONG_ITEM

        sizes = Cache.open(@path, create: false) { |cache| cache.items_from(0).first.map(&:size) }
        sizes.sum.fdiv(sizes.size) if sizes.any?
      end

      # False for a process that has ended, or of another user or container, which cannot be asked.
      def gives_memory_back?(pid)
        return false if pid == Process.pid && @store.nil? # the command line itself

        maps = File.binread("/proc/#{pid}/maps")
        maps.match?(GLIBC) && !maps.match?(OTHER_ALLOCATOR) && !File.binread("/proc/#{pid}/environ").match?(TRIMS)
      rescue SystemCallError
        false
      end
    end
  end
end
