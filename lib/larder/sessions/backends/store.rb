# frozen_string_literal: true

# Keeps sessions in any store of ActiveSupport's. Such stores have no compare-and-swap.

require "securerandom"
require "larder/bytes/monotonic_clock"
require_relative "../record"
require_relative "calls"
require_relative "file"

module Larder
  module Sessions
    module Backends
      # A store that is the application's cache (Rails.cache) may have a local cache for each request. It would hide
      # changes of a session by other processes, so each call here has an empty one.
      #
      # Values are raw Strings, which Redis and memcached keep without a coder. Anything else is not Larder's.
      #
      # Every method raises {UnavailableError} if the store fails or is not called. The store has to raise its errors,
      # see {StoreBuilder}.
      class Direct
        # The longest TTL that is passed on. memcached refuses an entry that expires after January 2038.
        LONGEST = 5 * 366 * 86_400

        # @param store [ActiveSupport::Cache::Store]
        # @param calls [Calls]
        def initialize(store, calls = Calls.new(store.class.name))
          @store = store
          @calls = calls
          @local_cache = store.respond_to?(:with_local_cache)
        end

        # @param name [String]
        # @return [String, nil] bytes
        def read(name)
          bytes(direct { @store.read(name, raw: true) })
        end

        # @param names [Array<String>]
        # @return [Hash{String => String}] bytes of those that are there
        def read_multi(names)
          direct { @store.read_multi(*names, raw: true) }.transform_values { |value| bytes(value) }.compact
        end

        # Reads an entry, and another that says whether it still counts, in one trip.
        #
        # @param name [String]
        # @param other [String]
        # @return [Array(String, String)] bytes, each nil where it is missing
        def read_both(name, other)
          read_multi([name, other]).values_at(name, other)
        end

        # @return [Boolean] has it counters?
        def counts?
          method = @store.method(:increment)
          method = method.super_method if method.owner == ActiveSupport::Cache::Strategy::LocalCache
          method.owner != ActiveSupport::Cache::Store
        end

        # @param changes [Hash{String => Array(Integer, Integer)}] what is added to each counter, and seconds to live
        # @return [void]
        def count(changes)
          direct { add_to(@store, changes) }
        end

        # @param names [Array<String>]
        # @return [Hash{String => Integer}] counters that are there
        def counts(names)
          direct { @store.read_multi(*names, raw: true) }.transform_values(&:to_i)
        end

        # @yieldparam rest [String] of each name that begins so
        # @return [void]
        # @raise [UnsupportedError]
        def each_name(_prefix)
          raise UnsupportedError
        end

        # @param name [String]
        # @param value [String]
        # @param options [Hash] of ActiveSupport::Cache::Store#write
        # @return [Boolean, nil]
        def write(name, value, expires_in: nil, **options)
          direct { put(name, value, raw: true, expires_in: limited(expires_in), **options) }
        end

        # A FileStore says of an expired entry that it exists, until it is read.
        #
        # @param name [String]
        # @param value [String]
        # @param ttl [Numeric, nil] seconds to live
        # @return [Boolean] false: there is one already, or it was not written
        def add(name, value, ttl)
          options = { expires_in: ttl, unless_exist: true }
          !!write(name, value, **options) || (read(name).nil? && !!write(name, value, **options))
        end

        # @param name [String]
        # @return [Boolean]
        def exist?(name)
          direct { @store.exist?(name, raw: true) }
        end

        # @param name [String]
        # @return [Boolean] was it there?
        def delete(name)
          direct { @store.delete(name) }
        end

        # Deletes an entry that expires soon.
        #
        # @param name [String]
        # @return [void]
        def release(name)
          delete(name)
        end

        private

        def limited(ttl)
          ttl && [ttl, LONGEST].min
        end

        def put(name, value, **options)
          @store.write(name, value, **options)
        end

        def add_to(store, changes, **options)
          changes.each do |name, (by, life)|
            store.public_send(by.positive? ? :increment : :decrement, name, by.abs, expires_in: life, **options)
          end
        end

        def bytes(value)
          value.b if value.is_a?(String)
        end

        def direct(&block)
          @calls.call { @local_cache ? @store.with_local_cache(&block) : yield }
        end
      end

      # A change holds a lock, which is an entry of the store. A delete leaves a mark, so that a slower request that
      # changes the session does not bring it back: a delete sets the mark first, and a change looks for it before and
      # after it writes. So one of the two removes what was written between them.
      #
      # A session is read together with the number of the last logout of all users, see {Logouts}. So that logout holds
      # for all machines at once, and costs no trip of its own. A number that is missing is put there, so that copies of
      # it can be made.
      #
      # A process that is stopped just before it writes, for longer than a lock lives, overwrites the changes of that
      # time. {Shared} has stores that can compare, and uses no lock.
      class Store
        include MonotonicClock
        include Single

        # The prefix of keys, which are hexadecimal: not every store takes any bytes.
        PREFIX = "session/"
        # Seconds that a request may be slower than the one that ended its session.
        REMEMBERED = 3600
        # Seconds after which the lock of a dead owner is free.
        LOCKED = 5
        # Seconds between two attempts to get the lock.
        PAUSE = (0.002..0.02)
        # Sessions that are read together when all are.
        BATCH = 500
        private_constant :PREFIX, :REMEMBERED, :LOCKED, :PAUSE, :BATCH

        # @param key [String]
        # @return [String] its name in a store of ActiveSupport's
        def self.name_of(key)
          PREFIX + key.unpack1("H*")
        end

        # @param store [ActiveSupport::Cache::Store] that raises errors, see {StoreBuilder}
        # @param calls [Calls]
        def initialize(store, calls = Calls.new(store.class.name))
          @calls = calls
          @store = Direct.new(store, calls)
          @name = store.class.name
        end

        # @param (see File#read)
        # @return (see File#read)
        def read(key)
          return @store.read(name(key)) unless key.start_with?(SESSIONS)

          bytes, number = @store.read_both(name(key), name(Logouts::EPOCH))
          bytes unless ended?(bytes) { epoch(number) }
        end

        # @param (see Single#read_multi)
        # @return (see Single#read_multi)
        def read_multi(keys)
          found = @store.read_multi(keys.map { |key| name(key) })
          keys.to_h { |key| [key, found[name(key)]] }.compact
        end

        # @param (see Single#each_entry)
        # @yieldparam (see Single#each_entry)
        # @return (see Single#each_entry)
        # @raise (see Single#each_entry)
        def each_entry(prefix)
          enum_for(:each_key, prefix).lazy.each_slice(BATCH) do |keys|
            found = read_multi([*keys, Logouts::EPOCH])
            number = epoch(found.delete(Logouts::EPOCH))
            found.each { |key, bytes| yield key, bytes unless ended?(bytes) { number } }
          end
        end

        # @return [Store, nil] itself; nil: the store has no counters
        def counters
          self if @store.counts?
        end

        # A failure is reported as an outage, and the counters stay wrong until they expire. A store may say only when
        # it is called that it has none.
        #
        # @param changes [Hash{String => Array(Integer, Integer)}] what is added to each counter, and seconds to live
        # @return [void]
        def count(changes)
          @store.count(changes.transform_keys { |key| name(key) })
        rescue UnavailableError, NotImplementedError
          nil
        end

        # @param keys [Array<String>]
        # @return [Array<Integer>] of the counters that are there
        # @raise [UnavailableError]
        def counts(keys)
          @store.counts(keys.map { |key| name(key) }).values
        end

        # @return (see Single#epoch)
        # @raise [UnavailableError]
        def epoch(number, _now = nil)
          name = name(Logouts::EPOCH)
          number ||= @store.add(name, "0", nil) ? "0" : @store.read(name)
          number&.to_i || raise(UnavailableError.new(@name, "it did not take the number of logouts"))
        end

        # @return (see Single#checks_epochs?)
        def checks_epochs?
          true
        end

        # @param (see File#add)
        # @return (see File#add)
        def add(key, bytes, ttl, pin: false) # rubocop:disable Lint/UnusedMethodArgument -- such stores pin nothing
          key = name(key)
          return @store.exist?(key) ? :changed : :refused unless @store.add(key, bytes, ttl)

          gone?(key) ? forget(key) : :stored # a sign-out by its former id may end a session before it is stored
        end

        # @param (see File#swap)
        # @return (see File#swap)
        # @raise [UnansweredError] the entry was as expected, and may have been replaced
        def swap(key, expected, bytes, ttl, pin: false) # rubocop:disable Lint/UnusedMethodArgument -- as above
          key = name(key)
          locked(key) do |until_then|
            found = @store.read(key)
            return :gone if found.nil? || gone?(key)

            found == expected && monotonic_now < until_then ? overwrite(key, bytes, ttl) : :changed
          end
        end

        # @param (see File#delete)
        # @return (see File#delete)
        def delete(key)
          key = name(key)
          begin
            @store.write("#{key}/gone", "1", expires_in: REMEMBERED)
          ensure # also if another thread's exception interrupts that
            deleted = @store.delete(key)
          end
          deleted
        end

        # @return [String] where sessions are kept, for people
        def to_s
          @name
        end

        private

        def name(key)
          Store.name_of(key)
        end

        # @yieldreturn [Integer] the number of the last logout of all users
        def ended?(bytes)
          record = bytes && Record.parse(bytes)
          !record.nil? && record.user? && record.epoch < yield
        end

        def each_key(prefix)
          @store.each_name(name(prefix)) { |hex| yield prefix + [hex].pack("H*") if hex.match?(/\A\h{64}\z/) }
        rescue UnsupportedError
          raise UnsupportedError, "#{@name} cannot list its sessions, so online and clear_anonymous do not work with " \
                                  "it: they do with a Redis in cache:, or with sessions in a file. active, stats, " \
                                  "for, logged_in?, logout and logout_all work here, too"
        end

        def gone?(key)
          @store.exist?("#{key}/gone")
        end

        def forget(key)
          @store.delete(key)
          :gone
        end

        def overwrite(key, bytes, ttl)
          return :refused unless @store.write(key, bytes, expires_in: ttl)

          gone?(key) ? forget(key) : :stored
        rescue UnavailableError
          raise UnansweredError.new(@name, "it did not answer a change")
        end

        # Yields the time until which the caller has the lock.
        def locked(key)
          lock = "#{key}/lock"
          mine = SecureRandom.hex(8)
          asked = held = nil
          @calls.wait_until(PAUSE) do
            asked = monotonic_now
            held = @store.add(lock, mine, LOCKED)
          end
          yield asked + LOCKED
        ensure
          release(lock, mine) if held
        end

        # If this process was stopped for longer than a lock lives, the lock is another's.
        def release(lock, mine)
          @store.release(lock) if @store.read(lock) == mine
        rescue UnavailableError
          nil # the lock expires
        end
      end
    end
  end
end
