# frozen_string_literal: true

# Larder::Cache, the byte cache: keywords, defaults and documentation. The natives behind it (`_get`, `_set`, ...) are
# in ext/larder. Values are kept as bytes and never read as anything else here: no serializer, no Marshal.

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
  # A cache may be used by any number of threads, and in forked children without more ado. Every method raises
  # {ClosedError} once it is closed, TypeError for a key or value that is no String, and {InvalidArgument} for one that
  # is too long or a number out of range.
  #
  # @example
  #   Larder::Cache.open("readme.larder", size: 8 << 20) do |books|
  #     books.set("book/1", "Moby-Dick", ttl: 60)
  #     books.get("book/1")
  #   end #=> "Moby-Dick"
  class Cache
    # @!parse
    #   # Bytes of the longest key.
    #   MAX_KEY = 4096
    #   # Bytes of the longest value in the largest cache. See {#max_value}.
    #   MAX_VALUE = 67108864
    #   # Bytes of the smallest file.
    #   MIN_SIZE = 1048576
    #   # Bytes of the largest file.
    #   MAX_SIZE = 1099511627776
    #   # Bytes of a file whose size is not given.
    #   DEFAULT_SIZE = 268435456
    #   # Seconds of the longest TTL.
    #   MAX_TTL = 70368744177
    #   # The version of the engine this was compiled with.
    #   ENGINE_VERSION = "0.1.0"

    # What the natives call the three ways to store.
    SET = 0
    ADD = 1
    REPLACE = 2
    # Added to them.
    PIN = 4
    # What the native calls the ways to open.
    NOW = 0
    EXISTING = 1
    LAZILY = 2
    LAZILY_AND_STRICTLY = 3
    LAZILY_BUT_REQUIRED = 4
    # What a resize keeps, as larder.h numbers it.
    KEEP = { false => 0, true => 1, all: 2 }.freeze
    KEEP_TRIAL = 3
    private_constant :SET, :ADD, :REPLACE, :PIN, :NOW, :EXISTING, :LAZILY, :LAZILY_AND_STRICTLY, :LAZILY_BUT_REQUIRED,
                     :KEEP, :KEEP_TRIAL

    # A file has whole pages, so it is up to this much larger than it was asked to be.
    PAGE = 4096
    # Seconds that calls wait for a lazy cache to attach.
    WAIT = 0.01
    # The same where what is written first is often read next, as in tests and consoles, or where the file is required.
    LONG_WAIT = 5
    WAITING_ENVIRONMENTS = %w[development test].freeze
    # Seconds between two looks at what keeps this process from its file.
    OBSTACLE_FOR = 1
    private_constant :PAGE, :WAIT, :LONG_WAIT, :WAITING_ENVIRONMENTS, :OBSTACLE_FOR

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
      # @param create [Boolean] false: a file is neither made nor replaced, and {OpenError} says why none can be used
      # @param lazy [Boolean, :strict, :required] true: the file is opened or made at the first call that needs it, by
      #   another thread. Calls wait for that until it has taken 0.01 seconds, in development and test 5 seconds. Until
      #   there is a file, reads are misses and stores are refused. If there can be none the first call raises
      #   {OpenError}, as do calls that would delete or overwrite, which are remembered and applied later. It is tried
      #   again every second. `:strict`: every call raises. `:required`: every call waits until it has taken 5 seconds,
      #   and raises where there is no file then; nothing is remembered.
      # @yieldparam cache [Cache] closed when the block ends
      # @return [Cache, Object] the cache, or the block's value
      # @raise [OpenError] with the path and the remedy
      # @example
      #   opened = Larder::Cache.open("open.larder", size: 4 << 20)
      #   opened.close #=> nil
      def open(path, size: nil, size_from: nil, lock_timeout: nil, create: true, lazy: false)
        path = Options.path(path)
        size_from ||= Application.calling_line if size && lazy # later nobody's line is on the stack
        cache = _open(path, Options.size_bytes(size), Options.lock_timeout_ms(lock_timeout), mode(create, lazy))
        cache.send(:opened, path, size, size_from, lazy)
        cache.send(:attached) unless lazy
        return cache unless block_given?

        begin
          yield cache
        ensure
          cache.close
        end
      end

      # Once per file and process, and each time in other Ractors, which cannot share the memory of it.
      # @api private
      def warn_of_size(cache, size, from)
        if Ractor.current == MAIN_RACTOR
          @warned ||= {}
          return if @warned[[cache.path, size]]

          @warned[[cache.path, size]] = true
        end
        warn("#{from || Application.calling_line}: warning: larder: #{cache.path} has #{cache.size} bytes, not the " \
             "configured #{size}; the file's size is used. To change it: larder resize " \
             "#{Shellwords.escape(cache.path)} #{size} (--keep keeps what is in it).")
      end

      private

      def mode(create, lazy)
        return create ? NOW : EXISTING unless lazy

        raise ArgumentError, "a cache that is opened lazily is made where it is missing; leave out create: false" \
          unless create

        { true => LAZILY, strict: LAZILY_AND_STRICTLY, required: LAZILY_BUT_REQUIRED }.fetch(lazy) do
          raise ArgumentError, "lazy is #{lazy.inspect}; it takes true, false, :strict or :required"
        end
      end
    end

    MAIN_RACTOR = Ractor.current
    private_constant :MAIN_RACTOR

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

    # @!method close
    #   Lets go of the file; the last process to do so writes it back. Calls of other threads that are inside end first,
    #   later ones raise {ClosedError}. A cache that is not closed is closed when it is collected or the process exits.
    #   @return [nil] also where it was closed before
    #   @example
    #     cache.close #=> nil

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
    # @return [Boolean] false: refused, and the old value is gone
    # @raise [FullError] with `pin: true` where no room could be made
    # @example
    #   cache.set("greeting", "hello", ttl: 1.5) #=> true
    def set(key, value, ttl: nil, now: nil, pin: false)
      _set(key, value, ttl.nil? ? 0 : Options.ttl_ms(ttl), pin ? SET + PIN : SET, now && Options.unix_ms(now))
    end

    # Stores where the key is absent.
    #
    # @param (see #set)
    # @return [Boolean] false: the key is present, or the store was refused
    # @raise (see #set)
    # @example
    #   cache.add("lock", "held", ttl: 10) #=> true
    #   cache.add("lock", "held", ttl: 10) #=> false
    def add(key, value, ttl: nil, now: nil, pin: false)
      _set(key, value, Options.ttl_ms(ttl), pin ? ADD + PIN : ADD, now && Options.unix_ms(now))
    end

    # Stores where the key is present.
    #
    # @param (see #set)
    # @return [Boolean] false: the key is absent, or the store was refused
    # @raise (see #set)
    # @example
    #   cache.replace("nobody", "here") #=> false
    def replace(key, value, ttl: nil, now: nil, pin: false)
      _set(key, value, Options.ttl_ms(ttl), pin ? REPLACE + PIN : REPLACE, now && Options.unix_ms(now))
    end

    # Compare and swap: stores where the key's value is byte for byte `expected`.
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
    # @example
    #   cache.set_multi({ "a" => "1", "b" => "2" }, ttl: 60) #=> []
    def set_multi(pairs, ttl: nil, now: nil)
      _set_multi(pairs, Options.ttl_ms(ttl), now && Options.unix_ms(now))
    end

    # Takes no lock and is never refused.
    #
    # @param key [String]
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @return [Boolean] was it there?
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
    # @example
    #   cache.set_multi({ "a" => "1", "b" => "2" })
    #   cache.delete_multi(["a", "b", "c"]) #=> 2
    def delete_multi(keys, now: nil)
      _delete_multi(keys, now && Options.unix_ms(now))
    end

    # Adds to a counter of 64 bits. An absent one starts from `initial`, and lives for `ttl`; the life of a present one
    # does not change. A value that is a decimal integer becomes a counter.
    #
    # @param key [String]
    # @param by [Integer] may be negative
    # @param initial [Integer] of an absent counter, before `by` is added
    # @param ttl [Numeric, nil] seconds an absent counter will live, nil: for ever
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @return [Integer] the sum
    # @raise [NotANumber] the value is no decimal integer, or the sum does not fit 64 bits; nothing has changed
    # @raise [BusyError, FullError, DamagedError] it could not be stored
    # @example
    #   cache.increment("visits") #=> 1
    #   cache.increment("visits", 10) #=> 11
    #   cache.get("visits") #=> "11"
    def increment(key, by = 1, initial: 0, ttl: nil, now: nil)
      _increment(key, Options.int64(by, "by"), initial.equal?(0) ? 0 : Options.int64(initial, "initial"),
                 ttl.nil? ? 0 : Options.life_ms(ttl), now && Options.unix_ms(now))
    end

    # Subtracts from a counter, see {#increment}.
    #
    # @param (see #increment)
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

    # Visits keys without a lock. One that is present throughout is yielded at least once; one that moves meanwhile may
    # be yielded twice. The block may change the cache.
    #
    # @param prefix [String, nil] of the keys to visit, nil: all
    # @param now [Numeric, nil] Unix time to decide expiry by, nil: the clock
    # @yieldparam key [String]
    # @return [self, Enumerator] an Enumerator without a block
    # @example
    #   cache.set_multi({ "user/1" => "Ada", "user/2" => "Alan", "book/1" => "Moby-Dick" })
    #   cache.each_key(prefix: "user/").sort #=> ["user/1", "user/2"]
    def each_key(prefix: nil, now: nil)
      return enum_for(:each_key, prefix: prefix, now: now) unless block_given?

      now_ms = now && Options.unix_ms(now)
      cursor = 0
      while cursor
        cursor, keys = _scan(cursor, prefix || "", now_ms)
        keys.each { |key| yield key }
      end
      self
    end

    # Empties the cache, at once whatever its size.
    #
    # @return [self]
    # @raise [BusyError, DamagedError] it could not be emptied
    # @example
    #   cache.set("greeting", "hello")
    #   cache.clear.get("greeting") #=> nil
    def clear
      _clear
    end

    # Puts a new, empty file of another size in the place of this one. Every process that has it open goes on with the
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
    # @raise [OpenError] as {#resize}
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
    # @example
    #   cache.prune #=> 0
    def prune(now: nil)
      _prune(now && Options.unix_ms(now))
    end

    # Counts of all processes since the file was made (`hits`, `misses`, `sets`, `evictions`, ...), and gauges of now
    # (`items`, `used_bytes`, `capacity_bytes`, `processes`, ...). Of these are made:
    #
    # - `hit_ratio`: the part of reads that found something, 0.0 to 1.0, nil where nothing was read
    # - `fullness`: the part of the room that is taken, 0.0 to 1.0; at 1.0 something leaves for what is stored
    # - `oldest_age`: seconds since the oldest item was stored, nil where there is none
    #
    # @return [Hash{Symbol => Integer, Float, nil}]
    # @example
    #   cache.get("nobody")
    #   cache.stats.slice(:hits, :misses, :hit_ratio) #=> { hits: 0, misses: 1, hit_ratio: 0.0 }
    def stats
      stats = _stats
      reads = stats[:hits] + stats[:misses]
      taken = (stats[:used_bytes] + stats[:index_bytes]).fdiv(stats[:capacity_bytes])
      oldest_ms = stats.delete(:oldest_age_ms)
      stats.merge(hit_ratio: (stats[:hits].fdiv(reads) if reads.positive?), fullness: taken.clamp(0.0, 1.0),
                  oldest_age: (oldest_ms / 1000.0 if stats[:items].positive?))
    end

    # Walks every invariant of the file, one shard lock at a time.
    #
    # @return [Hash{Symbol => Integer, String, nil}] `:items` and `:records` walked, `:problems` found (0: sound) and
    #   the `:first` of them in words, or nil
    # @example
    #   cache.verify[:problems] #=> 0
    def verify
      _verify
    end

    # @return [String] the path and the size or "closed"; no keys, no values
    # @example
    #   cache.inspect.start_with?("#<Larder::Cache ") #=> true
    def inspect
      state = closed? ? "closed" : @attached && "#{size} bytes"
      "#<#{self.class} #{path} #{state || "not opened yet"}>"
    end
    alias to_s inspect

    private

    def opened(path, size, size_from, lazy)
      @path = path.freeze
      @wanted_size = size
      @size_from = size_from
      @required = lazy == :required
    end

    # Another thread attaches, and each call waits for it until that thread has had so long: making a file may wait for
    # a disk, and a request does better with a miss.
    def attach_in_background
      start_attaching unless @attaching&.alive?
      @attaching&.join([@attach_deadline - monotonic_time, 0].max)
    end

    def start_attaching
      waits = @required || WAITING_ENVIRONMENTS.include?(Application.environment)
      @attach_deadline = monotonic_time + (waits ? LONG_WAIT : WAIT)
      @attaching = Thread.new { _attach }
      @attaching.report_on_exception = false # who joins it raises that
    rescue ThreadError # the process may have no more threads
      _attach
    end

    def monotonic_time
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Called once, when there is a file.
    def attached
      @attached = true
      Cache.warn_of_size(self, @wanted_size, @size_from) if @wanted_size && !(0...PAGE).cover?(size - @wanted_size)
      @when_attached&.call
    end

    # Runs the block once there is a file: now, or within the first call that needs it.
    def _when_attached(&block)
      @attached ? yield : @when_attached = block
    end

    # Called with each error that is raised because the cache has no file: for each `fetch` of a page, perhaps.
    def explained(error)
      now = monotonic_time
      @obstacle, @obstacle_until = Obstacle.at(path), now + OBSTACLE_FOR if now >= (@obstacle_until || now)
      @obstacle ? error.exception("#{error.message}. #{@obstacle}") : error
    end
  end
end
