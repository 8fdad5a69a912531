# frozen_string_literal: true

# The answers that all backends have, and the one that keeps sessions in a file of Larder's.

require_relative "../activity"
require_relative "../logouts"
require_relative "../room"

module Larder
  module Sessions
    # Where sessions are kept.
    module Backends
      # Answers of a backend that keeps sessions in one place, without a copy to reload.
      module Single
        # How the keys of sessions begin.
        SESSIONS = "s/"

        # @param _key [String]
        # @return [String, nil] bytes of a copy on this machine, which may be older than the session; nil: there is none
        def read_copy(_key); end

        # @param what [String] that could not be stored, and without which the caller cannot go on
        # @raise [Error]
        def refused(what)
          raise Error, "#{self} did not take #{what}: see that it has room and can be written, and try again"
        end

        # @param _key [String] of an entry that is missing
        # @return [String, nil] bytes of its copy
        def reload(_key); end

        # @param keys [Array<String>]
        # @return [Hash{String => String}] bytes of those that are there
        def read_multi(keys)
          keys.to_h { |key| [key, read(key)] }.compact
        end

        # @param prefix [String]
        # @yieldparam key [String] of each entry whose key begins so, perhaps twice
        # @yieldparam bytes [String]
        # @return [void]
        # @raise [UnsupportedError] the backend cannot list its entries
        def each_entry(prefix)
          cache.each_key(prefix: prefix) do |key|
            bytes = read(key)
            yield key, bytes if bytes
          end
        end

        # @return [Activity::Counters, Store, nil] where sessions are counted; nil: nowhere
        def counters
          Activity::Counters.new(cache)
        end

        # @param number [String, nil] the entry {Logouts::EPOCH}
        # @param now [Integer] Unix seconds
        # @return [Integer] the number of a session whose users sign in now, see {Logouts}
        def epoch(number, now)
          [number.to_i, now].max
        end

        # @return [Boolean] does {#read} answer nil for a session that has ended by a logout of all users?
        def checks_epochs?
          false
        end

        # Deletes a session that goes on under another key.
        #
        # @param key [String]
        # @return [Boolean] was it there?
        def discard(key)
          delete(key)
        end

        # @return [Boolean] may an end be applied late, when the session has got another key on another machine?
        def late?
          false
        end

        # @param _key [String] of what has ended, while it was not known which other keys it has
        # @return [void]
        def end_later(_key); end

        # @param _keys [Array<String>] of entries that may be missing
        # @return [Hash{String => String}, nil] bytes of their copies
        def copies(_keys)
          {}
        end

        # @return [Boolean] are there copies that outlive the backend?
        def copied?
          false
        end

        # @return [String, nil] the class of the store that has copies, nil: there is none
        def behind; end

        # @return [Hash{Symbol=>Object}, nil] of the store behind the file, or of `cache:`, as `:remote` of
        #   LarderStore#stats; nil: there is none, or it is called by each request
        def remote_stats; end
      end

      # Keeps sessions in a {Larder::Cache}. Its compare-and-swap makes each change atomic.
      #
      # Every backend has {#read}, {#add}, {#swap} and {#delete}, and the methods of {Single}. Keys are Strings of any
      # bytes.
      class File
        include Single

        # Attempts at a store that is refused if the shard lock times out.
        ATTEMPTS = 3
        private_constant :ATTEMPTS

        # @return [Cache]
        attr_reader :cache

        # @param cache [Larder::Cache]
        def initialize(cache)
          @cache = cache
        end

        # @param key [String]
        # @return [String, nil] bytes
        def read(key)
          @cache.get(key)
        end

        # @param key [String]
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @param pin [Boolean] it must not be evicted
        # @return [Symbol] :stored, :changed where the key is taken, :refused, :full
        # @raise [TooLongError]
        def add(key, bytes, ttl, pin: false)
          outcome(bytes) do
            next :stored if @cache.add(key, bytes, ttl: ttl, pin: pin)

            :changed if @cache.exist?(key)
          end
        end

        # Compares and swaps.
        #
        # @param key [String]
        # @param expected [String] what was read
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @param pin [Boolean] it must not be evicted
        # @return [Symbol] :stored, :gone where there is nothing, :changed where there is something else, :refused,
        #   :full; only :stored changes anything
        # @raise [TooLongError]
        def swap(key, expected, bytes, ttl, pin: false)
          outcome(bytes) do
            next :stored if @cache.cas(key, expected, bytes, ttl: ttl, pin: pin)

            found = @cache.get(key)
            next :gone if found.nil?

            :changed unless found == expected.b
          end
        end

        # @param key [String]
        # @return [Boolean] was it there?
        def delete(key)
          @cache.delete(key)
        end

        # Sets an entry about sessions. It is set evictable if there is no room for a pinned one.
        #
        # @param key [String]
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @param pin [Boolean] it should not be evicted
        # @return [void]
        def set(key, bytes, ttl, pin: true)
          Pinning.as_room_allows do |room|
            ATTEMPTS.times { break if @cache.set(key, bytes, ttl: ttl, pin: pin && room) }
          end
        end

        # @return [String] where sessions are kept, for people
        def to_s
          @cache.path
        end

        private

        # The block answers nil if the store was refused, and is tried again.
        def outcome(bytes)
          ATTEMPTS.times do
            outcome = yield
            return outcome if outcome
          end
          :refused
        rescue ::Larder::FullError
          :full
        rescue ::Larder::InvalidArgument
          raise TooLongError.new(bytes.bytesize, @cache.max_pinned)
        end
      end
    end
  end
end
