# frozen_string_literal: true

# Larder::Cache, the byte cache: opening, reading and writing. The native methods behind it (`_get`, `_set`, ...) are in
# ext/larder/cache. Values are bytes: no serializer, no Marshal.

require "larder/bytes/cache/attaching"
require "larder/bytes/cache/items"
require "larder/bytes/cache/maintenance"

module Larder
  # A cache of bytes in one file, shared by every process that opens it, on this machine. It survives restarts and
  # `kill -9`; reads take no lock.
  #
  # Keys and values are Strings of any encoding, of which the bytes count; what is read back is a binary
  # (`ASCII-8BIT`) String of its own. Keys have 0 to {MAX_KEY} bytes, values 0 to {#max_value}.
  #
  # Times are seconds as Integer or Float, down to a millisecond. `ttl: nil` never expires; a `ttl` of zero or less is
  # expired at once, so storing it drops the key ({#cas} and counters take it for a millisecond). `now:` (Unix time) is
  # what expiry is decided by instead of the clock.
  #
  # Methods that store answer false where the store was refused: lock timeout, or cache full.
  # The old value of the key is gone then, so a refused overwrite never leaves an old value behind. {#add} and {#cas}
  # overwrite nothing that their caller did not name, and leave it.
  #
  # A cache may be used by any number of threads, and in forked children without further steps. Every method raises
  # {ClosedError} once it is closed, TypeError for a key or value that is no String, and {InvalidArgument} for one that
  # is too long or a number out of range.
  #
  # If the file was removed, truncated or replaced, the cache attaches to the file that is at the path now, or makes it.
  # If that fails, reads are misses, and methods that change something or answer for the whole file raise. Those of a
  # lazy cache also raise as {.open} says.
  #
  # @example
  #   Larder::Cache.open("readme.larder", size: 8 << 20) do |books|
  #     books.set("book/1", "Moby-Dick", ttl: 60)
  #     books.get("book/1")
  #   end #=> "Moby-Dick"
  class Cache
    # @!parse
    #   # Bytes of the longest key.
    #   MAX_KEY = 4095
    #   # Bytes of the longest value in the largest cache. See {#max_value}.
    #   MAX_VALUE = 67108864
    #   # Bytes of the smallest file.
    #   MIN_SIZE = 1048576
    #   # Bytes of the largest file.
    #   MAX_SIZE = 1099511627776
    #   # Bytes of a file whose size is not given.
    #   DEFAULT_SIZE = 268435456
    #   # Tags of an item.
    #   MAX_TAGS = 128
    #   # Seconds of the longest {#trust_for}.
    #   MAX_TRUST = 60
    #   # Seconds of the longest TTL.
    #   MAX_TTL = 2199023255
    #   # The version of the engine this was compiled with.
    #   ENGINE_VERSION = "0.1.0"

    include Attaching
    include Items
    include Maintenance

    LAZY = [true, false, :strict, :required].freeze
    private_constant :LAZY

    class << self
      private :new

      # Opens the cache at `path`, and makes the file and its directory where they are missing. A file of Larder's that
      # is damaged, or was open when the machine crashed, is replaced by an empty one; a foreign file is never touched.
      # Opened twice in a process, the caches share one mapping.
      #
      # @param path [String, Pathname] on a local file system
      # @param size [Integer, nil] bytes of the file when it is made, nil: {DEFAULT_SIZE}. A file that is there keeps
      #   its size, and one that differs from `size` is warned of.
      # @param lock_timeout [Numeric, nil] seconds a writer waits for another that is alive, nil: 0.2. The first cache
      #   of a file in a process decides it.
      # @param size_from [String, nil] where `size` is configured, for that warning; nil: the line of the caller
      # @param create [Boolean] false: a file is neither made nor replaced, and {OpenError} says why none can be used;
      #   but it may be where the process has another cache of this path that was opened without `create: false`
      # @param lazy [Boolean, :strict, :required] true: the first call that needs the file opens or creates it, and
      #   waits for that: for another process that opens the file 5 seconds, for a disk 60 seconds, and in a web request
      #   ({WebRequest}) 1 second. Without a file, reads are misses and stores are refused; the first read raises
      #   {OpenError}, and so does each call that would delete or overwrite. These changes are remembered and applied
      #   when the file is opened, at the latest when the cache is closed or the process ends. Larder tries again every
      #   second. `:strict`: every call raises. `:required`: every call waits 5 seconds at most and raises if there is
      #   no file then; nothing is remembered, and a file of a newer version is not cleared.
      # @param configuration [Integer, nil] a digest (64 bits) of the settings that decide what the items mean; nil, 0:
      #   none. A cache reads only items that a cache of its own configuration stored. An item of another configuration
      #   is a miss, {#add} replaces it, and a counter starts again. A delete, {#clear} or store acts on the key
      #   whichever configuration stored it, and {#each_key} lists the keys of all. The file remembers seven
      #   configurations; opening it with an eighth empties it.
      # @param statistics [Boolean] true: counts by keyspace and time in a file next to the cache, see {Usage}
      # @yieldparam cache [Cache] closed when the block ends
      # @return [Cache, Object] the cache, or the block's value
      # @raise [OpenError] with the path and the remedy
      # @example
      #   opened = Larder::Cache.open("open.larder", size: 4 << 20)
      #   opened.close #=> nil
      def open(path, size: nil, size_from: nil, lock_timeout: nil, create: true, lazy: false, configuration: nil,
               statistics: false)
        check_lazy(lazy, create)
        Options.switch("create", create) unless create.nil?
        configuration = Options.configuration(configuration)
        path = Options.path(path)
        size_from ||= Application.calling_line if size && lazy # the caller's line is on the stack only now
        numbers = [Options.size_bytes(size), Options.lock_timeout_ms(lock_timeout), configuration,
                   Options.switch("statistics", statistics)]
        cache = open_explained(path, numbers, create, lazy)
        cache.send(:opened, path, size, size_from, lazy)
        return cache unless block_given?

        begin
          yield cache
        ensure
          cache.close
        end
      end

      private

      def open_explained(path, *options)
        _open(path, *options)
      rescue OpenError => error
        raise Obstacle.explained(error, Obstacle.at(path, error)), cause: error.cause
      end

      def check_lazy(lazy, create)
        raise ArgumentError, "a cache that is opened lazily is made where it is missing; leave out create: false" \
          if lazy && create != true
        return if lazy.nil? || LAZY.include?(lazy)

        raise ArgumentError, "lazy is #{lazy.inspect}; it takes true, false, :strict or :required"
      end
    end

    # @return [String] the absolute path of the file, also once closed
    # @example
    #   File.absolute_path?(cache.path) #=> true
    attr_reader :path

    # @!method size
    #   @return [Integer] bytes of the file
    #   @example
    #     cache.size >= Larder::Cache::MIN_SIZE #=> true

    # @!method max_value
    #   @return [Integer] bytes of the longest value that this cache takes: an eighth of its capacity, at most
    #     {MAX_VALUE}
    #   @example
    #     cache.max_value <= Larder::Cache::MAX_VALUE #=> true

    # @!method max_pinned
    #   @return [Integer] bytes of the longest key and value together that `pin: true` takes. Items so stored are not
    #     evicted; they may take two thirds of the file, and beyond that storing one raises {FullError}.
    #   @example
    #     cache.max_pinned >= 16_000 #=> true

    # @!method pids
    #   @return [Array<Integer>] of the processes that have the file open, this one too, as each knows its own: in other
    #     containers they may go by other ids
    #   @example
    #     cache.pids #=> [Process.pid]

    # @!method process
    #   @api private
    #   @return [Integer] a number of this process in this file, 0: no file is attached. It consists of a process slot
    #     and the low bits of the slot's incarnation, so it changes in a forked child and after the file was replaced

    # @!method process_lives?(process)
    #   @api private
    #   @param process [Integer] see {#process}
    #   @return [Boolean] is the process with that number attached? Also true if that is unknown

    # @!method count_failure
    #   Counts in the statistics that a call of the application's cache failed, for whatever reason. A failure while the
    #   file cannot be used is added when this process opens it. Nothing if the cache is closed or has no statistics.
    #   @return [self]
    #   @example
    #     cache.count_failure.equal?(cache) #=> true

    # @!method closed?
    #   @return [Boolean]
    #   @example
    #     cache.closed? #=> false

    # @param key [String]
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @return [String, nil] the value, nil: a miss
    # @example
    #   cache.set("greeting", "hello")
    #   cache.get("greeting") #=> "hello"
    def get(key, now: nil)
      _get(key, now && Options.unix_ms(now))
    end

    # Reads many keys in one pass, which is faster than reading each.
    #
    # @param keys [Array<String>]
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @return [Hash{String => String}] the values of those that were found
    # @example
    #   cache.set_multi({ "a" => "1", "b" => "2" })
    #   cache.get_multi(["a", "b", "c"]) #=> { "a" => "1", "b" => "2" }
    def get_multi(keys, now: nil)
      _get_multi(keys, now && Options.unix_ms(now))
    end

    # Stores, whatever was there.
    #
    # @param key [String]
    # @param value [String]
    # @param ttl [Numeric, nil] seconds to live, nil: for ever
    # @param now [Numeric, nil] Unix time the TTL counts from, nil: the clock
    # @param pin [Boolean] never evict it: it stays until it expires or is deleted, see {#max_pinned}
    # @param tags [Array<String>, nil] up to {MAX_TAGS}, see {#delete_tagged}
    # @param stamp [String, nil] with tags: that of {#stamp} before the value was computed; nil: it was computed now
    # @return [Boolean] false: refused, and the old value is gone; or the cache was cleared after the stamp
    # @raise [ArgumentError] there are more tags
    # @raise [FullError] with `pin: true` if pinned items take all the room that they may, or eviction finds none
    # @raise [OpenError] no file could be opened
    # @example
    #   cache.set("greeting", "hello", ttl: 1.5) #=> true
    def set(key, value, ttl: nil, now: nil, pin: false, tags: nil, stamp: nil)
      ttl_ms = ttl.nil? ? 0 : Options.ttl_ms(ttl)
      now_ms = now && Options.unix_ms(now)
      return _set(key, value, ttl_ms, SET, pin, now_ms) unless tags

      _set_tagged(key, value, ttl_ms, SET, pin, now_ms, tags, stamp)
    end

    # Stores where the key is absent.
    #
    # @param (see #set)
    # @return [Boolean] false: the key is present, or the store was refused
    # @raise (see #set)
    # @example
    #   cache.add("lock", "held", ttl: 10) #=> true
    #   cache.add("lock", "held", ttl: 10) #=> false
    def add(key, value, ttl: nil, now: nil, pin: false, tags: nil, stamp: nil)
      now_ms = now && Options.unix_ms(now)
      return _set(key, value, Options.ttl_ms(ttl), ADD, pin, now_ms) unless tags

      _set_tagged(key, value, Options.ttl_ms(ttl), ADD, pin, now_ms, tags, stamp)
    end

    # Stores where the key is present.
    #
    # @param key [String]
    # @param value [String]
    # @param ttl [Numeric, nil] seconds to live, nil: for ever
    # @param now [Numeric, nil] Unix time the TTL counts from, nil: the clock
    # @param pin [Boolean] never evict it, see {#max_pinned}
    # @return [Boolean] false: the key is absent, or the store was refused
    # @raise (see #set)
    # @example
    #   cache.replace("nobody", "here") #=> false
    def replace(key, value, ttl: nil, now: nil, pin: false)
      _set(key, value, Options.ttl_ms(ttl), REPLACE, pin, now && Options.unix_ms(now))
    end

    # Compare and swap: stores where the key's value is byte for byte `expected`, also if that was deleted and stored
    # again since the caller read it.
    #
    # @param key [String]
    # @param expected [String]
    # @param value [String]
    # @param ttl [Numeric, nil] seconds to live, nil: for ever
    # @param now [Numeric, nil] Unix time the TTL counts from, nil: the clock
    # @param pin [Boolean] never evict the new value, see {#max_pinned}
    # @return [Boolean] false: the key is absent or has another value, or the store was refused
    # @raise (see #set)
    # @example
    #   cache.set("state", "new")
    #   cache.cas("state", "new", "paid") #=> true
    #   cache.cas("state", "new", "paid") #=> false
    def cas(key, expected, value, ttl: nil, now: nil, pin: false)
      _cas(key, expected, value, Options.life_ms(ttl), pin, now && Options.unix_ms(now))
    end

    # Stores many pairs with the same TTL.
    #
    # @param pairs [Hash{String => String}]
    # @param ttl [Numeric, nil] seconds to live, nil: for ever
    # @param now [Numeric, nil] Unix time the TTL counts from, nil: the clock
    # @return [Array<String>] the keys that were refused, whose old values are gone; empty: all were stored
    # @raise [InvalidArgument] for a key or value that is too long, after the others were stored
    # @raise [OpenError] no file could be opened
    # @example
    #   cache.set_multi({ "a" => "1", "b" => "2" }, ttl: 60) #=> []
    def set_multi(pairs, ttl: nil, now: nil)
      _set_multi(pairs, Options.ttl_ms(ttl), now && Options.unix_ms(now))
    end

    # Takes no lock and is never refused. A delete that raises is applied when a file is opened.
    #
    # @param key [String]
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @return [Boolean] was it there?
    # @raise [DamagedError, OpenError] the file cannot be used any more, and no other could be opened
    # @example
    #   cache.set("greeting", "hello")
    #   cache.delete("greeting") #=> true
    #   cache.delete("greeting") #=> false
    def delete(key, now: nil)
      _delete(key, now && Options.unix_ms(now))
    end

    # @param keys [Array<String>]
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @return [Integer] how many were there
    # @raise (see #delete)
    # @example
    #   cache.set_multi({ "a" => "1", "b" => "2" })
    #   cache.delete_multi(["a", "b", "c"]) #=> 2
    def delete_multi(keys, now: nil)
      _delete_multi(keys, now && Options.unix_ms(now))
    end

    # @!method stamp
    #   A moment between deletions of tags. Called before a value is computed that will have tags, and given to its
    #   store: then a tag that is deleted in between deletes that value, too.
    #
    #   @return [String, nil] for {#set} and {#add}; nil: no file is attached
    #   @example
    #     stamp = cache.stamp
    #     cache.delete_tagged("product/1")
    #     cache.set("page", "rendered before", tags: ["product/1"], stamp: stamp)
    #     cache.get("page") #=> nil

    # Says that items are copies of what another store has, and that those that change there are removed for so long.
    # Nothing else depends on it.
    #
    # @param seconds [Numeric] 0: no longer
    # @param since [Array(Float, Float), nil] seconds of CLOCK_MONOTONIC and CLOCK_REALTIME from which it counts; nil:
    #   those of this call. A process may be stopped for any time before the call.
    # @return [true]
    # @raise [Larder::InvalidArgument] more than {MAX_TRUST} seconds, or not two times
    # @raise (see #delete)
    # @example
    #   cache.trust_for(3)
    #   cache.trusted? #=> true
    def trust_for(seconds, since: nil)
      unless seconds.is_a?(Numeric) && (0..MAX_TRUST).cover?(seconds)
        raise InvalidArgument, "trust_for takes seconds from 0 to #{MAX_TRUST}, not #{seconds.inspect}"
      end

      monotonic, wall = since && Options.moment_ms(since)
      _trust((seconds * 1000).ceil, monotonic, wall)
    end

    # @!method trusted?
    #   @return [Boolean] is it within the time of the latest {#trust_for} of all processes?
    #   @example
    #     cache.trusted? #=> false

    # Deletes all items that have one of the tags, in the same time whatever their number. They take their room until
    # they are evicted, which they are before others. A deletion that raises is applied when a file is opened.
    #
    # @param tags [Array<String>] of any bytes
    # @param now [Numeric, nil] Unix time, nil: the clock
    # @return [true]
    # @raise (see #delete)
    # @example
    #   cache.set("page", "rendered", tags: ["product/1", "product/2"])
    #   cache.delete_tagged("product/2") #=> true
    #   cache.get("page") #=> nil
    def delete_tagged(*tags, now: nil)
      _delete_tagged(tags, now && Options.unix_ms(now))
    end

    # Adds to a counter of 64 bits. An absent one starts from `initial`, and lives for `ttl`; the life of a present one
    # does not change. A value that is a decimal integer becomes a counter.
    #
    # @param key [String]
    # @param by [Integer] may be negative
    # @param initial [Integer] of an absent counter, before `by` is added
    # @param ttl [Numeric, nil] seconds an absent counter will live, nil: for ever
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @param tags [Array<String>, nil] of an absent one, see {#delete_tagged}; it takes longer to count then
    # @return [Integer] the sum
    # @raise [NotANumber] the value is no decimal integer, or the sum does not fit 64 bits; nothing has changed
    # @raise [BusyError, FullError, DamagedError, OpenError] it could not be stored
    # @example
    #   cache.increment("visits") #=> 1
    #   cache.increment("visits", 10) #=> 11
    #   cache.get("visits") #=> "11"
    def increment(key, by = 1, initial: 0, ttl: nil, now: nil, tags: nil)
      by = Options.int64(by, "by")
      initial = initial.equal?(0) ? 0 : Options.int64(initial, "initial")
      ttl_ms = ttl.nil? ? 0 : Options.life_ms(ttl)
      now_ms = now && Options.unix_ms(now)
      tags ? _increment_tagged(key, by, initial, ttl_ms, now_ms, tags) : _increment(key, by, initial, ttl_ms, now_ms)
    end

    # Subtracts from a counter, see {#increment}. An absent one gets no tags.
    #
    # @param key [String]
    # @param by [Integer] may be negative
    # @param initial [Integer] of an absent counter, before `by` is subtracted
    # @param ttl [Numeric, nil] seconds an absent counter will live, nil: for ever
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @return (see #increment)
    # @raise (see #increment)
    # @example
    #   cache.decrement("stock", 2, initial: 10) #=> 8
    def decrement(key, by = 1, initial: 0, ttl: nil, now: nil)
      _increment(key, Options.int64(-Options.int64(by, "by"), "by"), Options.int64(initial, "initial"),
                 Options.life_ms(ttl), now && Options.unix_ms(now))
    end

    # Gives a present key a new life.
    #
    # @param key [String]
    # @param ttl [Numeric, nil] seconds to live from now, nil: for ever
    # @param now [Numeric, nil] Unix time the TTL counts from, nil: the clock
    # @return [Boolean] false: the key is absent, or the lock timed out
    # @raise [OpenError] no file could be opened
    # @example
    #   cache.set("session", "data", ttl: 60)
    #   cache.touch("session", ttl: 120) #=> true
    def touch(key, ttl: nil, now: nil)
      _touch(key, Options.ttl_ms(ttl), now && Options.unix_ms(now))
    end

    # @param key [String]
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @return [Boolean]
    # @example
    #   cache.exist?("nobody") #=> false
    def exist?(key, now: nil)
      _exist(key, now && Options.unix_ms(now))
    end

    # Of an entry of the Rails store it is what its caller gave: the file keeps it longer, so that `race_condition_ttl`
    # can serve it once more, and that is not counted.
    #
    # @param key [String]
    # @param now [Numeric, nil] Unix time to count from, nil: the clock
    # @return [Float, nil] seconds left to live, `Float::INFINITY`: never expires, nil: absent or expired
    # @example
    #   cache.set("session", "data", ttl: 60)
    #   cache.ttl("session").ceil #=> 60
    def ttl(key, now: nil)
      _ttl(key, now && Options.unix_ms(now))
    end

    # Does not look at the file, so it never raises.
    #
    # @return [String] the path and the size or "closed"; no keys, no values
    # @example
    #   cache.inspect.start_with?("#<Larder::Cache ") #=> true
    def inspect
      state = closed? ? "closed" : @attached && "#{_known_size} bytes"
      "#<#{self.class} #{path} #{state || "not opened yet"}>"
    end
    alias to_s inspect
  end
end
