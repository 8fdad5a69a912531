# frozen_string_literal: true

# Calls about the whole cache: emptying, dropping expired items, statistics.

module Larder
  module Store
    # None of this is needed in normal use: the engine makes room by itself.
    module Maintenance
      # Names of entries, in no particular order. Walks the keys without stopping others; one that is stored or deleted
      # meanwhile may be among them or not.
      #
      # @param prefix [String] what the names start with
      # @param options [Hash, nil] :namespace
      # @return [Array<String>, nil] without the namespace; nil where the cache could not serve
      # @example
      #   Rails.cache.keys(prefix: "products/")
      def keys(prefix: "", **options)
        before = namespace_prefix(merged_options(options))
        level.failsafe.guard(:keys) do
          @cache.each_key(prefix: "#{before}#{prefix}".b, now: Clock.now).filter_map do |key|
            next if key.start_with?(TwoLevels::Notes::PREFIX)

            key.byteslice(before.bytesize..).force_encoding(Encoding::UTF_8)
          end.uniq
        end
      end

      # Adds what this process has counted by keyspace to the file of statistics, unless it did so within the last
      # second. If another process adds its own at this moment, a later call does it. Rails calls it at the end of each
      # request and job. A failure is logged, once for each cause.
      #
      # With `remote:` a thread of one process of the machine also publishes the status that {#machines} shows, once a
      # minute.
      #
      # @return [nil]
      # @example
      #   Rails.cache.keep_statistics
      def keep_statistics
        level.roster.publish_if_due if @remote
        error = @cache.keep_statistics(if_due: true)
        return if error.nil? || error.message == @statistics_failure

        @statistics_failure = error.message
        Larder::Application.log("larder: no statistics are kept: #{error.message}")
      end

      # Drops expired items now, rather than when their room is needed. An entry that race_condition_ttl may still serve
      # stays for that long.
      #
      # @return [Integer, nil] how many were dropped; nil where the cache could not serve
      # @example
      #   Rails.cache.cleanup
      def cleanup(_options = nil)
        level.failsafe.guard(:cleanup) do
          next @cache.prune(now: Clock.now) unless sends?(:cleanup)

          _instrument(:cleanup, size: @cache.stats[:items]) { @cache.prune(now: Clock.now) }
        end
      end

      # Drops expired items and then, if a size is given, other items in no particular order until about that much is
      # left.
      #
      # @param target_size [Integer, nil] bytes of keys and values
      # @param max_time [Numeric, nil] seconds after which to stop
      # @return [Integer, nil] how many were dropped; nil where the cache could not serve
      # @example
      #   Rails.cache.prune(64.megabytes)
      def prune(target_size = nil, max_time = nil)
        deadline = monotonic_now + max_time if max_time
        dropped = cleanup
        return dropped unless dropped && target_size

        level.failsafe.guard(:prune) do
          instrument(:prune, target_size, from: @cache.stats[:used_bytes]) do
            dropped + shrink(target_size, deadline)
          end
        end
      end

      # Statistics of all processes together: hits, misses, hit_ratio, items, fullness, evictions and others, see
      # Larder::Cache#stats; and `:fast_path`, whether simple calls of this store are answered in C, and if not, why.
      # With `remote:` also `:remote`, whether that store waits for changes that it has not got, how many these are,
      # whether copies are trusted, and whether a process of this machine listens to the backplane.
      #
      # @return [Hash{Symbol=>Object}] without the figures of the file where that could not be read; and what is not
      #   known of `:remote` is nil
      # @example
      #   Rails.cache.stats[:hit_ratio]
      #   Rails.cache.stats[:fast_path] #=> { on: true, reasons: [] }
      def stats
        { **level.stats, fast_path: FastPath.report(self) }
      end

      # The machines that share the store of `remote:`, as far as they have published their status within the last hour.
      # Each does so once a minute, if it answers requests or jobs of Rails, or calls {#keep_statistics}.
      #
      # @return [Array<MachineStatus>, nil] this machine first, then by name; empty without `remote:`; nil: the remote
      #   store does not answer
      # @example
      #   Rails.cache.machines.map { |machine| [machine.host, machine.trusted, machine.age] }
      def machines
        return [] unless @remote

        level.failsafe.guard(:machines) { level.roster.all }
      end

      # @return [String]
      def inspect
        "#<#{self.class.name} cache=#{@cache.inspect} options=#{@options.inspect}>"
      end

      private

      # One walk: items are kept until the target is reached, all others are deleted.
      def shrink(target_size, deadline)
        kept = dropped = 0
        @cache.each_key do |key|
          break if deadline && monotonic_now > deadline
          next unless (item = @cache.item(key)) # not a read: that would count, and keep the item from eviction

          size = key.bytesize + item.size
          if kept + size <= target_size
            kept += size
          else
            dropped += 1 if @cache.delete(key)
          end
        end
        dropped
      end
    end
  end
end
