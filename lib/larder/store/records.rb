# frozen_string_literal: true

# The native methods under the ordinary path, which are in ext/larder/rails/records.c.

module Larder
  module Store
    # Entries of the ordinary path in a Larder::Cache. Errors are those of Larder::Cache.
    #
    # A record is `[bytes, flags, ttl_ms]` when stored, or what {#kept} answers, and `[bytes, flags, expires_at_ms,
    # identity]` when read. An entry is `[value, expires_at, version]` of a plain value, with true behind if it is kept
    # when it is stale, and a String of any other: the bytes of Rails' coder, a raw value, a counter; `[bytes,
    # expires_at]` if they are kept when they are stale. `now` is Unix time in milliseconds; nil is the clock.
    # @api private
    class Records
      # @param cache [Larder::Cache]
      def initialize(cache)
        @cache = cache
      end

      # @!method get_entry(key, now)
      #   @return [Array(Object, Float, String), String, nil] an entry

      # @!method get_kept_entry(key, now)
      #   @return [Array(Object, Float, String), String, nil] an entry, also one that is stale

      # @!method kept(record, stale_ms, compute_ms)
      #   @param stale_ms [Integer] how long it is kept after it has expired
      #   @param compute_ms [Integer] how long its value took to compute
      #   @return [Array(String, Integer, Integer, Integer, Integer)] a record to store

      # @!method get_entries(keys, now)
      #   @return [Hash{String => Array, String}] entries of those keys that were found

      # @!method get_kept_entries(keys, now)
      #   @return [Hash{String => Array, String}] the same, also of those that are stale

      # @!method early?(key, now)
      #   @param now [Integer]
      #   @return [Boolean] is the value of a key to be computed again before it expires? By chance, see early_refresh

      # @!method get(key, now)
      #   @return [Array(String, Integer, Integer, Integer), nil] a record, with its identity for {#cas}

      # @!method entry_of(record)
      #   @param record [Array] that was read
      #   @return [Array(Object, Float, String), String, nil] what get_entry would have answered for it

      # @!method set(key, record, now)
      #   @return [Boolean] false: refused

      # @!method add(key, record, now)
      #   @return [Boolean] false: the key is present, or refused

      # @!method cas(key, read, record, now)
      #   Stores the record over the one that was read.
      #   @param read [Array] what {#get} answered
      #   @return [Boolean] false: the key was deleted, stored or touched since, also if it has an equal record again;
      #     or refused

      # @!method set_multi(records, now)
      #   @param records [Hash{String => Array}]
      #   @return [Array<String>] the keys that were refused

      # @!method tagged(record, tags, stamp)
      #   @param tags [Array<String>]
      #   @param stamp [String, nil] as Larder::Cache#stamp
      #   @return [Array] the record of an entry with tags

      # @!method set_leased(key, record, now, lease)
      #   @return [Boolean] false: the lease had ended, or refused

      # @!method lease(key, lease_ms, over, now)
      #   @param over [String, nil] the lease that PRESENT answered, if its value is no use
      #   @return [Array(Integer, String), nil] TAKEN, LEASED (by another caller) or PRESENT (there is a value), and the
      #     lease; nil: none can be stored

      # @!method leases(keys, lease_ms, now)
      #   @param keys [Array<String>]
      #   @return [Hash{String => String}] leases of those keys of which no other caller has one, also where there is a
      #     value; none of a key in a shard whose lock is taken

      # @!method lease_wait(key, lease, wait_ms, now)
      #   @return [Boolean] has the lease ended? Waits for that up to wait_ms, at most 20 ms

      # @!method count_deed(deed, key)
      #   @param deed [Integer] WAITED, REFRESHED or COMPUTED_ALONE
      #   @param key [String] of the value that the caller waited for or computed
      #   @return [self]

      # @!method recount(key, from, to)
      #   Changes how a read of the key was counted, at once after it.
      #   @param from [Integer] UNCOUNTED, MISS, HIT or STALE (of an entry that is kept when it is stale), as `to`
      #   @return [self]

      # @!method lease_end(key, lease, fresh_ms, now)
      #   @param fresh_ms [Integer] how long an old value of the key is fresh from now on
      #   @return [Boolean] false: it had ended already

      # @!method plain(value, expires_at, expires_in, race_condition_ttl, version, now, trees)
      #   @param expires_at [Float, nil] Unix seconds
      #   @param expires_in [Float, nil] seconds, as race_condition_ttl
      #   @param trees [Boolean] are Arrays, Hashes and objects plain?
      #   @return [Array(String, Integer, Integer), nil] the record of a plain value; nil: the entry is for a coder

      # @!method keep_strings(payloads, leases, latest, now, tags, stamp)
      #   Does what keep_copies does for Strings without a version in bytes of Rails' coder, from Rails 7.1 on.
      #   @param payloads [Hash{String => String}] from which those that are live Strings are removed
      #   @return [Hash{String => String}] these Strings

      # @!method keep_copies(entries, leases, latest, now, tags, stamp, trees)
      #   Stores plain entries under leases of their keys, as set_leased does, and takes the leases that have ended so
      #   off the Hash. An entry without a lease, or that has expired, is not stored.
      #   @param entries [Hash{String => ActiveSupport::Cache::Entry}]
      #   @param leases [Hash{String => String}]
      #   @param latest [Float] Unix seconds: when the copies expire, unless their entries do before
      #   @return [Hash{String => ActiveSupport::Cache::Entry}] entries that have leases and are for a coder

      # @!method terms(expires_in, race_condition_ttl, now)
      #   @return [Array(Integer, Integer)] flags and ttl_ms of the record of an entry that a coder dumped
    end
  end
end
