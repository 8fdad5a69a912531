# frozen_string_literal: true

# Owns how sessions are kept in a file of Larder's.

module Larder
  module Sessions
    # Where sessions are kept.
    module Backends
      # Keeps sessions in a {Larder::Cache}, whose compare and swap makes each change whole.
      #
      # Every backend answers {#read}, {#add}, {#swap}, {#delete} and {#reload} alike. Keys are Strings of any bytes.
      class File
        # Attempts at a store that is refused, because a lock is not had in time.
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
        # @param pin [Boolean] it must not leave because others come
        # @return [Symbol] :stored, :changed where the key is taken, :refused, :full
        # @raise [TooLongError]
        def add(key, bytes, ttl, pin: false)
          outcome(bytes) do
            next :stored if @cache.add(key, bytes, ttl: ttl, pin: pin)

            :changed if @cache.exist?(key)
          end
        end

        # Compare and swap.
        #
        # @param key [String]
        # @param expected [String] what was read
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @param pin [Boolean] it must not leave because others come
        # @return [Symbol] :stored, :gone where there is nothing, :changed where there is something else, :refused,
        #   :full; all but the first change nothing
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

        # What is kept elsewhere as well, and is missing here.
        #
        # @param _key [String]
        # @return [String, nil] bytes
        def reload(_key)
          nil
        end

        # What other machines have said about sessions.
        #
        # @param _keys [Array<String>]
        # @return [Hash{String => String}, nil] nil: it cannot be asked
        def elsewhere(_keys)
          {}
        end

        # @param _key [String] of what was read
        # @return [Boolean] is it time to look whether it was ended elsewhere?
        def check_due?(_key)
          false
        end

        # @return [Boolean] are there copies elsewhere, of which this program may not know?
        def copied?
          false
        end

        # @return [String, nil] the class of the store that has copies, nil: there is none
        def behind
          nil
        end

        # @return [String] where sessions are kept, for people
        def to_s
          @cache.path
        end

        private

        # What became of a store. The block answers nil where it was refused, and is tried again.
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
