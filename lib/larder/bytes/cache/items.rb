# frozen_string_literal: true

# Calls of a Larder::Cache for people who look at it. The native methods are in ext/larder/cache/inspect.c.

require_relative "../monotonic_clock"

module Larder
  class Cache
    # Facts about an item, see {Items}.
    #
    # @!attribute [r] key
    #   @return [String] binary
    # @!attribute [r] size
    #   @return [Integer] bytes of the value
    # @!attribute [r] expires_at_ms
    #   @return [Integer, nil] Unix time in milliseconds; nil: never. After it the item is stale
    # @!attribute [r] kept_until_ms
    #   @return [Integer, nil] Unix time in milliseconds: it is kept until then, fresh or stale; nil: no limit
    # @!attribute [r] stored_after_ms
    #   @return [Integer] Unix time in milliseconds: it was not stored before
    # @!attribute [r] reads
    #   @return [Integer] 0 to 3: how often it was read since eviction last looked at it, two for each time. Reads soon
    #     after it was stored are not counted
    # @!attribute [r] tags
    #   @return [Integer] how many it has. The file has digests of them, not their texts
    # @!attribute [r] compute_ms
    #   @return [Integer, nil] milliseconds that the value took to compute; nil: unknown
    # @!attribute [r] flags
    #   @return [Integer] a byte that says how the value is encoded
    # @!attribute [r] counter
    #   @return [Boolean] made by {Cache#increment}
    # @!attribute [r] pinned
    #   @return [Boolean] it is not evicted
    # @!attribute [r] leased
    #   @return [Boolean] it is stale, and a caller computes its next value
    Item = Struct.new(:key, :size, :expires_at_ms, :kept_until_ms, :stored_after_ms, :reads, :tags, :compute_ms,
                      :flags, :counter, :pinned, :leased) do
      # @param now_ms [Integer] Unix time in milliseconds
      # @return [Float, nil] seconds until it is stale, 0.0: it is; nil: never
      def ttl(now_ms)
        expires_at_ms && [expires_at_ms - now_ms, 0].max / 1000.0
      end

      # @param now_ms [Integer] Unix time in milliseconds
      # @return [Float] seconds: it was stored that long ago at most
      def age(now_ms)
        [now_ms - stored_after_ms, 0].max / 1000.0
      end
    end

    # The right to compute a key's value, which one caller has, see {Items#each_lease}.
    #
    # @!attribute [r] key
    #   @return [String] binary
    # @!attribute [r] age
    #   @return [Float] seconds since it was taken
    # @!attribute [r] left
    #   @return [Float] seconds until it ends by itself
    # @!attribute [r] pid
    #   @return [Integer] of the process that has it, as numbered in its container
    # @!attribute [r] stale_value
    #   @return [Boolean] is there an old value?
    Lease = Struct.new(:key, :age, :left, :pid, :stale_value)

    # Looks at items without a lock, and without counting that as a read. Shows items of each configuration, see
    # {Cache.open}, and those that are kept although they are stale.
    module Items
      include MonotonicClock

      # @param key [String]
      # @return [Item, nil] nil: absent
      # @example
      #   cache.set("greeting", "hello", ttl: 60)
      #   cache.item("greeting").size #=> 5
      def item(key)
        _item(Item, key, nil, false)&.first
      end

      # @param key [String]
      # @return [Array(Item, String), nil] the item and its bytes, binary; nil: absent
      # @example
      #   cache.set("greeting", "hello")
      #   cache.item_with_value("greeting").last #=> "hello"
      def item_with_value(key)
        _item(Item, key, nil, true)
      end

      # Visits items as {Maintenance#each_key} visits keys, with the same guarantees.
      #
      # @param prefix [String, nil] of the keys to visit, nil: all
      # @yieldparam item [Item]
      # @return [self, Enumerator] an Enumerator without a block
      # @raise [DamagedError, OpenError] the file cannot be used any more, and no other could be opened
      # @example
      #   cache.set_multi({ "user/1" => "Ada", "user/2" => "Grace" })
      #   cache.each_item(prefix: "user/").sum(&:size) #=> 8
      def each_item(prefix: nil, &block)
        return enum_for(:each_item, prefix: prefix) unless block

        position = 0
        while position
          items, position = items_from(position, prefix: prefix)
          items.each(&block)
        end
        self
      end

      # Visits the keys whose values are being computed under a lease, as {#each_item} visits items. A lease that is
      # taken or ends during the walk may be among them or not.
      #
      # @param prefix [String, nil] of the keys to visit, nil: all
      # @param seconds [Numeric, nil] the walk stops after that time; nil: it visits all keys
      # @yieldparam lease [Lease]
      # @return [Boolean, Enumerator] true: all keys were visited, false: the time was over before; an Enumerator
      #   without a block
      # @raise (see #each_item)
      # @example
      #   cache.each_lease.map(&:key) #=> []
      def each_lease(prefix: nil, seconds: nil, &block)
        return enum_for(:each_lease, prefix: prefix, seconds: seconds) unless block

        deadline = seconds && (monotonic_now + seconds)
        cursor = 0
        loop do
          cursor, leases = _scan_leases(Lease, cursor, prefix || "")
          leases.each(&block)
          return true unless cursor
          return false if deadline && monotonic_now > deadline
        end
      end

      # One step of {#each_item}, for a caller that stops and goes on later, also in another process. A step looks at
      # some ten thousand keys at most.
      #
      # @param position [Integer] 0: the beginning; else what an earlier step answered. One that is not from this file
      #   begins again
      # @param prefix [String, nil] of the keys to visit, nil: all
      # @return [Array(Array<Item>, Integer), Array(Array<Item>, nil)] the items, perhaps none, and the next position;
      #   nil: the walk is over
      # @raise [InvalidArgument] the position must be an Integer from 0 to 2**64 - 1
      # @raise (see #each_item)
      # @example
      #   cache.set("greeting", "hello")
      #   items, position = cache.items_from(0)
      #   items.map(&:key) + [position] #=> ["greeting", nil]
      def items_from(position, prefix: nil)
        cursor, items = _scan_items(Item, checked_position(position), prefix || "", nil)
        [items, cursor]
      end

      # As {#items_from}, with less work: keys alone.
      #
      # @param (see #items_from)
      # @return [Array(Array<String>, Integer), Array(Array<String>, nil)] the keys, binary, and the next position
      # @raise (see #items_from)
      # @example
      #   cache.set("greeting", "hello")
      #   cache.keys_from(0) #=> [["greeting"], nil]
      def keys_from(position, prefix: nil)
        cursor, keys = _scan(checked_position(position), prefix || "", nil, true)
        [keys, cursor]
      end

      # @param position [Integer] of {#items_from} or {#keys_from}
      # @return [Float] which part of the keys is before it, 0.0 to 1.0
      # @raise (see #items_from)
      # @example
      #   cache.progress(0) #=> 0.0
      def progress(position)
        _scan_progress(checked_position(position)).fdiv(1_000_000)
      end

      private

      def checked_position(position)
        return position if position.is_a?(Integer) && position.between?(0, (2**64) - 1)

        raise InvalidArgument, "the position #{position.inspect} must be an Integer from 0 to 2**64 - 1"
      end
    end
  end
end
