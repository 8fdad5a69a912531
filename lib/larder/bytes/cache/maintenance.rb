# frozen_string_literal: true

# Calls of a Larder::Cache about the whole file. The native methods are in ext/larder/cache/maintenance.c.

module Larder
  class Cache
    # Walking, emptying, resizing, pruning, statistics, estimates and verification.
    module Maintenance
      # What resize keeps. The extension defines KEEP_*.
      KEEP = { false => KEEP_NONE, true => KEEP_SOME, all: KEEP_ALL }.freeze
      private_constant :KEEP

      # Visits keys without a lock. One that is present throughout is yielded at least once. If the index
      # grows during the walk, keys may be yielded more than once. The block may change the cache.
      #
      # @param prefix [String, nil] of the keys to visit, nil: all
      # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
      # @param all [Boolean] also keys of stale values and of values that are being computed: for a caller that deletes
      #   them
      # @yieldparam key [String] also one that another configuration stored, see {Cache.open}
      # @return [self, Enumerator] an Enumerator without a block
      # @raise [DamagedError, OpenError] the file cannot be used any more, and no other could be opened
      # @example
      #   cache.set_multi({ "user/1" => "Ada", "user/2" => "Alan", "book/1" => "Moby-Dick" })
      #   cache.each_key(prefix: "user/").sort #=> ["user/1", "user/2"]
      def each_key(prefix: nil, now: nil, all: false)
        return enum_for(:each_key, prefix: prefix, now: now, all: all) unless block_given?

        now_ms = now && Options.unix_ms(now)
        cursor = 0
        while cursor
          cursor, keys = _scan(cursor, prefix || "", now_ms, all)
          keys.each { |key| yield key }
        end
        self
      end

      # Empties the cache, at once whatever its size, and takes no lock. A clear that raises is applied when a file is
      # opened.
      #
      # @return [self]
      # @raise [DamagedError, OpenError] the file cannot be used any more, and no other could be opened
      # @example
      #   cache.set("greeting", "hello")
      #   cache.clear.get("greeting") #=> nil
      def clear
        _clear
      end

      # Puts a new, empty file of another size in the place of this one. Every process that has it open uses the
      # new one at its next call. Where it fails nothing has changed.
      #
      # @param size [Integer] bytes
      # @param keep [Boolean, Symbol] true: the new file has what the old one had, as far as there is room; :all: it has
      #   all of it. No other process may have the file open then, and no other thread may use this cache meanwhile
      # @return [self]
      # @raise [OpenError] the size is none that a cache can have, the disk has no room for it beside the old one, or
      #   others have it open that is to be kept
      # @raise [FullError] there is no room for what was stored with `pin: true`, or with :all for all items
      # @raise [DamagedError] the file cannot be used any more
      # @example
      #   cache.resize(4 << 20).size #=> 4194304
      def resize(size, keep: false)
        raise TypeError, "size must be an Integer of bytes, got nil" if size.nil?

        how = KEEP.fetch(keep) { raise InvalidArgument, "keep: #{keep.inspect} is none of true, false and :all" }
        _resize(Options.size_bytes(size), how)
        _exist("", nil) # attaches to it
        self
      end

      # Tries whether a file of another size had room for all items, by copying them into one that is removed again.
      #
      # @param size [Integer] bytes
      # @return [Boolean]
      # @raise [OpenError, DamagedError] as {#resize}
      # @example
      #   cache.set("a", "x" * 2000)
      #   cache.fits_in?(1 << 20)   #=> true
      def fits_in?(size)
        _resize(Options.size_bytes(size), KEEP_TRIAL)
        true
      rescue FullError
        false
      end

      # Drops what has expired now, rather than when its room is needed.
      #
      # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
      # @return [Integer] how many items were dropped
      # @raise [BusyError] a lock timed out; expired items of the other shards were dropped
      # @raise [DamagedError, OpenError] the file cannot be used any more, and no other could be opened
      # @example
      #   cache.prune #=> 0
      def prune(now: nil)
        _prune(now && Options.unix_ms(now))
      end

      # Counts of all processes since the file was made (`hits`, `misses`, `sets`, `evictions`, ...), and gauges of now
      # (`items`, `used_bytes`, `capacity_bytes`, `processes`, ...). `process_room` processes may have the file open,
      # and four more with `create: false`. `hints_bytes` is memory outside the file; where `hints_shared` is 1,
      # processes share it in /dev/shm, and where it is 0, each process has its own. Computed from these are:
      #
      # - `hit_ratio`: the part of reads that the file answered, 0.0 to 1.0, nil where nothing was read. The guide to
      #   monitoring says what a hit is
      # - `fullness`: the part of the room that is taken, 0.0 to 1.0; at 1.0 something leaves for what is stored
      # - `age`: seconds since the file was made; a resize, or a file that cannot be used, has a new one made
      # - `oldest_age`: seconds since the oldest item was stored, nil where there is none
      # - `counts_age`: how many seconds old the counts of other processes are at most; 0.0 unless one of them shares no
      #   memory with this one, as in another container
      # - `configurations_full_age`: seconds since the file was last emptied because all seven rows of `configurations`
      #   were taken; nil if it never was
      #
      # @return [Hash{Symbol => Integer, Float, nil}]
      # @raise [DamagedError, OpenError] the file cannot be used any more, and no other could be opened
      # @example
      #   cache.get("nobody")
      #   cache.stats.slice(:hits, :misses, :hit_ratio) #=> { hits: 0, misses: 1, hit_ratio: 0.0 }
      def stats
        stats = _stats
        reads = stats[:hits] + stats[:misses]
        taken = stats.values_at(:used_bytes, :index_bytes, :table_bytes).sum.fdiv(stats[:capacity_bytes])
        oldest_ms = stats.delete(:oldest_age_ms)
        counts_ms = stats.delete(:counts_age_ms)
        age_ms = stats.delete(:age_ms)
        full_ms = stats.delete(:configurations_full_ms)
        stats.merge(hit_ratio: (stats[:hits].fdiv(reads) if reads.positive?), fullness: taken.clamp(0.0, 1.0),
                    oldest_age: (oldest_ms / 1000.0 if stats[:items].positive?),
                    counts_age: counts_ms / 1000.0, age: age_ms / 1000.0,
                    configurations_full_age: ([Time.now.to_f - (full_ms / 1000.0), 0.0].max if full_ms.positive?))
      end

      # Names groups of keys for the statistics of a cache that was opened with `statistics: true`, see {Usage}.
      #
      # @param namespace [String, nil] of keys that begin with it and ":"
      # @param patterns [Array<String>] beginnings of keys, with `*` for any characters but "/" and ":"; each is the
      #   name of a keyspace
      # @return [self]
      # @raise [InvalidArgument] one is empty or longer than 63 bytes, there are more than 8 namespaces or 32 patterns
      #   in this process, or the cache has no statistics
      # @example
      #   Larder::Cache.open("named.larder", size: 1 << 20, statistics: true) do |counted|
      #     counted.name_keyspaces(namespace: "shop", patterns: ["products/*/price"]).set("shop:products/7/price", "9")
      #     counted.keep_statistics
      #   end
      #   Larder::Usage.read("named.larder").keyspaces.first.name #=> "products/*/price"
      def name_keyspaces(namespace: nil, patterns: [])
        return self if _name_keyspaces(namespace, patterns)

        raise InvalidArgument, "namespace #{namespace.inspect} and patterns #{patterns.inspect} name keyspaces of a " \
                               "cache with statistics: 8 namespaces and 32 patterns at most, of 1 to 63 bytes each"
      end

      # Adds the counts of this process to the file of statistics. The cache does it itself when it stores, once a
      # second at most, and when it is closed. It waits up to a second for other processes that add theirs.
      #
      # @param if_due [Boolean] true: only if it was not done for a second and no other process adds its counts, and
      #   nothing if the cache is closed
      # @return [OpenError, nil] why the file cannot be used
      # @example
      #   cache.keep_statistics #=> nil
      def keep_statistics(if_due: false)
        _keep_usage(!if_due)
      end

      # Estimates the hit ratio at half, twice and four times the file's size, from a sample of the keys that were read
      # and stored while the cache was full. Processes keep the sample in memory: it starts again after the last one has
      # closed the file. Items that expire or are deleted make it less exact.
      #
      # - `size_bytes`, `hit_ratio`: of this file since it was created; the ratio is nil where nothing was read
      # - `evicts`: false while everything fits; then no other size is estimated
      # - `needed_bytes`: about the size at which nothing would have been evicted, nil if that is unknown or more than
      #   four times this size
      # - `sizes`: for each other size `size_bytes`, `hit_ratio`, `error` (the ratio may be off by so much, with 95 %
      #   confidence; both are nil where too few reads were sampled), and `reads`, those that were sampled
      #
      # @return [Hash{Symbol => Integer, Float, Boolean, Array<Hash>, nil}]
      # @raise [DamagedError, OpenError] the file cannot be used any more, and no other could be opened
      # @example
      #   cache.get("nobody")
      #   cache.other_sizes[:sizes].map { |size| size[:size_bytes].fdiv(cache.size) } #=> [0.5, 2.0, 4.0]
      #   cache.other_sizes.slice(:evicts, :hit_ratio) #=> { evicts: false, hit_ratio: 0.0 }
      def other_sizes
        found = _other_sizes
        bytes, hits, reads = found.values_at(:size_bytes, :hits, :reads)
        sizes = found[:sizes].map do |size|
          { size_bytes: bytes * size[:per_cent] / 100, hit_ratio: size[:hits_ppm]&.fdiv(1_000_000),
            error: size[:error_ppm]&.fdiv(1_000_000), reads: size[:reads] }
        end
        { size_bytes: bytes, hit_ratio: (hits.fdiv(reads) if reads.positive?),
          **found.slice(:evicts, :needed_bytes), sizes: sizes }
      end

      # Walks every invariant of the file, one shard lock at a time.
      #
      # @return [Hash{Symbol => Integer, String, nil}] `:items` and `:records` walked, `:problems` found (0: sound) and
      #   the `:first` of them in words, or nil; `:stale_bytes` of items that are kept although they are stale, or a tag
      #   of theirs was deleted
      # @raise [BusyError] a lock timed out
      # @raise [DamagedError, OpenError] the file cannot be used any more, and no other could be opened
      # @example
      #   cache.verify[:problems] #=> 0
      def verify
        _verify
      end
    end
  end
end
