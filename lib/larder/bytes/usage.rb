# frozen_string_literal: true

# The statistics of a cache by keyspace and by time, as its sidecar file has them. ext/larder/cache/usage.c reads it.

module Larder
  # Which part of an application fills a cache, which part misses, and how that was before: counts of all processes that
  # opened the cache with `statistics: true`, as the Rails store does. They are in a file next to it, `PATH.stats`.
  #
  # The keyspace of a key is its part before the first "/" or ":", after its namespace. A fragment of a view is in the
  # keyspace `views/TEMPLATE`. Keys such as `user_17` are in `user_*`. {Cache#name_keyspaces} makes other groups.
  #
  # @example
  #   Larder::Cache.open("usage.larder", size: 1 << 20, statistics: true) do |cache|
  #     cache.get("users/1") || cache.set("users/1", "Ada")
  #     cache.get("users/1")
  #   end
  #   Larder::Usage.read("usage.larder").keyspaces.first.counts.hit_ratio #=> 0.5
  class Usage
    # Seconds between the beginnings of two buckets of {#minutes} and {#hours}.
    MINUTE = 60
    HOUR = 3600
    # How far {#minutes} reach back, in seconds.
    MINUTES_FOR = 120 * MINUTE

    # Counts of a keyspace or of the whole cache; engine/include/larder.h describes each (LARDER_USAGE_LIST).
    Counts = Struct.new(*Cache::USAGE_COUNTS) do
      # @return [Counts] of nothing
      def self.none
        new(*([0] * members.size))
      end

      # @param other [Counts]
      # @return [Counts]
      def +(other)
        self.class.new(*to_a.zip(other.to_a).map(&:sum))
      end

      # @param other [Counts]
      # @return [Counts] without those of another; none is below 0, as parts of a sum can be estimates
      def -(other)
        self.class.new(*to_a.zip(other.to_a).map { |all, part| [all - part, 0].max })
      end

      # @return [Integer]
      def reads
        hits + misses
      end

      # @return [Float, nil] 0.0 to 1.0; nil: nothing was read
      def hit_ratio
        hits.fdiv(reads) if reads.positive?
      end

      # @return [Float, nil] seconds from a miss to the store of the key; nil: not known
      def mean_compute
        compute_us / 1e6 / computes if computes.positive?
      end

      # @return [Float, nil] seconds that evicted items had been in the cache, at most; nil: none was evicted
      def mean_evicted_age
        evicted_age_ms / 1e3 / evictions if evictions.positive?
      end

      # @return [Float, nil] bytes; nil: nothing was stored
      def mean_bytes
        stored_bytes.fdiv(stores) if stores.positive?
      end

      # @return [Float] seconds of computing that hits have saved, as far as the time to compute is known
      def saved
        hits * (mean_compute || 0.0)
      end

      # @return [Integer] in 19 of 20 cases {#reads} are off by no more; 0: they are exact
      def reads_error
        (2 * Math.sqrt(read_variance)).ceil
      end

      # @return [Integer] as {#reads_error}, of stores
      def stores_error
        (2 * Math.sqrt(store_variance)).ceil
      end

      # @return [Integer] as {#reads_error}, of evictions
      def evictions_error
        (2 * Math.sqrt(eviction_variance)).ceil
      end
    end

    # A group of keys. `name`: nil for all keyspaces that have no row of their own; `traffic`: reads and stores, which
    # fall by half each hour; `since`: Time from which on it is counted.
    Keyspace = Struct.new(:name, :traffic, :since, :counts)

    # A minute, an hour or a longer time. `began`: Time; `whole`: Counts of the cache, which are exact; `keyspaces`:
    # Counts by name, of those that had most traffic.
    Bucket = Struct.new(:began, :whole, :keyspaces) do
      # @return [Counts] of keyspaces that have no counts of their own here
      def rest
        keyspaces.each_value.reduce(whole) { |left, part| left - part }
      end

      # @return [Float] seconds of computing that hits have saved, as far as the time to compute is known
      def saved
        keyspaces.each_value.sum(rest.saved, &:saved)
      end
    end

    # A key that is read often, or whose value is large. `key`: its first 124 bytes; `key_bytes`: of the whole key;
    # `weight`: recent reads, or bytes; `error`: the weight may be too great by that; `seen`: Time.
    UsedKey = Struct.new(:key, :key_bytes, :weight, :error, :seen, :value_bytes)

    class << self
      private :new

      # @param path [String, Pathname] of the cache
      # @param hours [Boolean] false: without {#hours}, which takes a quarter of the time
      # @return [Usage, nil] nil: no process has kept statistics of it
      # @raise [OpenError] the file of statistics cannot be used: its path and the remedy
      def read(path, hours: true)
        raw = Cache.send(:_usage, Options.path(path), hours)
        new(raw) if raw
      end

      # @param key [String]
      # @return [String] its keyspace, where no namespace and no pattern is known
      # @example
      #   Larder::Usage.keyspace_of("views/products/_row:0a1b/products/1") #=> "views/products/_row"
      def keyspace_of(key)
        Cache.send(:_keyspace_of, nil, key)
      end
    end

    # @return [Time] when the statistics began
    attr_reader :since
    # @return [Time] when a process last added to them
    attr_reader :changed
    # @return [Array<Keyspace>] that of most traffic first
    attr_reader :keyspaces
    # @return [Counts] of all other keyspaces together
    attr_reader :rest
    # @return [Array<Bucket>] of the last two hours, the oldest first; without those in which nothing was counted
    attr_reader :minutes
    # @return [Array<Bucket>] of the last two weeks, in the same way
    attr_reader :hours
    # @return [Array<UsedKey>] most read, of a sample; that with most reads first
    attr_reader :hot
    # @return [Array<UsedKey>] largest values of a sample of the last day, the largest first
    attr_reader :heavy
    # @return [Array<String>] that are not part of keyspaces
    attr_reader :namespaces
    # @return [Array<String>] that are keyspaces
    attr_reader :patterns

    def initialize(raw)
      since, changed, keyspaces, minutes, hours, hot, heavy, rules = raw
      @since, @changed = time(since), time(changed)
      @rules, @namespaces, @patterns = rules
      take_keyspaces(keyspaces)
      @minutes, @hours = buckets(minutes), buckets(hours)
      @hot, @heavy = used(hot), used(heavy)
    end

    # @param key [String]
    # @return [String] its keyspace, by the namespaces and patterns of the application
    def keyspace_of(key)
      Cache.send(:_keyspace_of, @rules, key)
    end

    # @param seconds [Numeric] up to two hours counted by minutes, otherwise by hours
    # @param now [Time]
    # @return [Bucket] the sum of the buckets that began less than that ago
    # @raise [TypeError, ArgumentError] seconds is not a number, or now is not a Time
    def last(seconds, now: Time.now)
      raise TypeError, "now must be a Time, got #{now.class}" unless now.is_a?(Time)

      from = now - [Options.number(seconds, "seconds"), now.to_f].min
      began = (seconds <= MINUTES_FOR ? minutes : hours).select { |bucket| bucket.began > from }
      keyspaces = began.map(&:keyspaces).inject({}) { |sum, one| merge(sum, one) }
      Bucket.new(from, began.sum(Counts.none, &:whole), keyspaces)
    end

    private

    def merge(all, one)
      all.merge(one) { |_, before, more| before + more }
    end

    def take_keyspaces(rows)
      *named, rest = rows
      @rest = Counts.new(*rest.last)
      @names = named.to_h { |row, name, *| [row, name] }
      @keyspaces = named.map do |row, _, traffic, since, counts|
        Keyspace.new(@names.fetch(row), traffic, time(since), Counts.new(*counts))
      end.sort_by { |keyspace| -keyspace.traffic }
    end

    def buckets(raw)
      raw.map do |began, whole, parts|
        named = parts.to_h { |row, counts| [@names[row], Counts.new(*counts)] }
        Bucket.new(time(began), Counts.new(*whole), named.except(nil))
      end.sort_by(&:began)
    end

    def used(raw)
      keys = raw.map do |key, bytes, weight, error, seen, value_bytes|
        UsedKey.new(key, bytes, weight, error, time(seen), value_bytes)
      end
      keys.sort_by { |key| -key.weight }
    end

    def time(milliseconds)
      Time.at(0, milliseconds, :millisecond)
    end
  end
end
