# frozen_string_literal: true

# Builds the Rails cache store that sessions are kept in, so that Marshal never reads what is in it, and so that it
# raises its errors.

require "active_support"
require "active_support/cache"
require "larder/remote/addresses"
require "larder/remote/adapters"
require_relative "../errors"
require_relative "bytes_coder"
require_relative "swaps"

module Larder
  module Sessions
    module Backends
      # From what users type as `backed_by:` or `cache:`. Stores that keep raw Strings are told to (see {Direct}); the
      # others get {BytesCoder}. A store that is made already is taken if it reads no Marshal.
      #
      # Rails' stores answer an error by a miss, so that a session would look as if it was gone. The store that is built
      # raises instead. A store that is made already stays as it is.
      class StoreBuilder
        # Options that decide how a store turns values into bytes.
        CODERS = %i[coder serializer compressor].freeze
        # Timeouts of a client, in seconds, unless an option sets one. A client tries twice.
        WAITS = {
          redis_cache_store: { connect_timeout: 0.5, read_timeout: 0.5, write_timeout: 0.5 },
          mem_cache_store: { socket_timeout: 0.5, down_retry_delay: 1 }
        }.freeze
        # Options that set one.
        TIMEOUTS = %i[redis timeout connect_timeout read_timeout write_timeout socket_timeout].freeze
        # Stores that machines share, by their names and by the names of their classes.
        SHARED = %i[redis_cache_store mem_cache_store solid_cache_store].freeze
        REDIS = "ActiveSupport::Cache::RedisCacheStore"
        MEMCACHED = "ActiveSupport::Cache::MemCacheStore"
        CLASSES = [REDIS, MEMCACHED, "SolidCache::Store"].freeze
        private_constant :CODERS, :WAITS, :TIMEOUTS, :SHARED, :REDIS, :MEMCACHED, :CLASSES

        # Values are kept as they are also where the caller did not say so.
        module Raw
          private

          def write_entry(key, entry, **options)
            super(key, entry, **options, raw: true)
          end

          def deserialize_entry(payload, **options)
            super(payload, **options, raw: true)
          end
        end
        private_constant :Raw

        # Replaces the method of FileStore that rescues errors.
        module RaisingFiles
          private

          def read_serialized_entry(key, **)
            ::File.binread(key)
          rescue Errno::ENOENT
            nil
          end
        end
        private_constant :RaisingFiles

        # Replaces the method of LarderStore that answers a miss for a file that cannot be opened.
        module RaisingLarder
          # @return [Object, nil]
          # @raise [Larder::Error]
          def read(*)
            found(super)
          end

          private

          def read_entry(*, **)
            found(super)
          end

          def found(answer)
            cache.stats if answer.nil? # raises if the file cannot be opened
            answer
          end
        end
        private_constant :RaisingLarder

        # Rails autoloads the classes of stores, and each requires the gem of its client. A name loads nothing.
        #
        # @param store [Object]
        # @param names [Array<String>] of classes
        # @return [Boolean] is it of one of them?
        def self.of?(store, *names)
          store.class.ancestors.any? { |type| names.include?(type.name) }
        end

        # @param option [Symbol] whose value it is, for messages
        # @param given [ActiveSupport::Cache::Store, Symbol, Array] what `config.cache_store` takes
        # @return [ActiveSupport::Cache::Store] that raises errors
        # @raise [InvalidArgument] it would read Marshal, or would hide its errors
        def self.build(option, given)
          adapter(option, given).store
        end

        # @param (see .build)
        # @return [Larder::Remote::Adapters::Any] of the store that {.build} answers
        # @raise (see .build)
        def self.adapter(option, given)
          new(option).adapter(*given)
        end

        # @param store [ActiveSupport::Cache::Store] of the application, which stays as it is
        # @return [ActiveSupport::Cache::Store] with the same entries and connections, that raises its errors; of a
        #   store that is not known, the same
        def self.raising_copy(store)
          return store.raising.extend(RaisingLarder) if of?(store, "ActiveSupport::Cache::LarderStore")

          raising = if store.is_a?(ActiveSupport::Cache::FileStore) then RaisingFiles
                    elsif shared?(store) then ::Larder::Remote::Adapters::Raising
                    end
          raising ? store.clone.extend(raising) : store
        end

        # @param given (see .build)
        # @return [Boolean] is it a store that machines share?
        def self.shared?(given)
          kind = [given].flatten(1).first
          SHARED.include?(kind) || of?(kind, *CLASSES)
        end

        # @param path [String] of a file for copies
        # @param size [Integer] of that file
        # @param backplane [String, Hash, Array, nil] the servers of messages about old copies
        # @param remote_id [String, nil] names the store's servers
        # @return [ActiveSupport::Cache::LarderStore] before the store that is built
        # @raise [InvalidArgument]
        def self.shared(option, given, path:, size:, backplane:, remote_id: nil)
          store = new(option).build(*with_defaults(given)).clone.extend(Raw) # the given one stays as it is
          store.extend(::Larder::Remote::Adapters::Own) if [given].flatten(1).first.is_a?(Symbol)
          Swaps.extend_store(store)
          ::Larder::Remote::Servers.refuse_block(given, store) unless remote_id
          ActiveSupport::Cache.lookup_store(:larder_store, path, { size: size, remote: store, backplane: backplane,
                                                                   remote_id: remote_id })
        rescue ::ArgumentError => error
          raise InvalidArgument, error.message.sub("remote: of LarderStore", "#{option}: of sessions")
                                      .sub(" of LarderStore", " of sessions").sub("remote_id:", "cache_id:")
        end

        # With what LarderStore gives to the stores that it makes.
        def self.with_defaults(given)
          kind, *rest = given
          return given unless kind.is_a?(Symbol)

          require "active_support/cache/larder_store"
          options = rest.grep(Hash).reduce({}, :merge)
          arguments = rest.grep_v(Hash)
          [kind, *arguments, ::Larder::Remote::Adapters.with_defaults(kind, arguments, options)]
        end
        private_class_method :with_defaults

        def initialize(option)
          @option = option
        end

        # @param given [Array] as {#build}
        # @return [Larder::Remote::Adapters::Any] of a store that raises errors
        # @raise [InvalidArgument]
        def adapter(*given)
          store = build(*given)
          shared = self.class.shared?(store)
          require "active_support/cache/larder_store" if shared
          store = self.class.raising_copy(store) unless shared
          ::Larder::Remote::Adapters.of(store, given.first.is_a?(Symbol))
        rescue ::ArgumentError => error
          raise InvalidArgument, error.message.sub("remote: of LarderStore", "#{@option}: of sessions")
        end

        # @param kind [ActiveSupport::Cache::Store, Symbol]
        # @param rest [Array] arguments of a store that is named
        # @return [ActiveSupport::Cache::Store]
        # @raise [InvalidArgument]
        def build(kind, *rest)
          made = kind.is_a?(Symbol)
          store = made ? made(kind, rest) : kind
          refuse_hiding(store, made: made)
          checked(store)
        end

        private

        def made(kind, rest)
          options = rest.grep(Hash).reduce({}, :merge)
          coder = CODERS.find { |name| options[name] }
          raise InvalidArgument, "#{@option}: sessions are bytes already: leave out #{coder}:" if coder

          looked_up(kind, rest.grep_v(Hash), { **with_waits(kind, options), coder: BytesCoder })
        end

        def looked_up(kind, arguments, options)
          store = if kind == :mem_cache_store then memcached(arguments, options)
                  else ActiveSupport::Cache.lookup_store(kind, *arguments, options)
                  end
          ::Larder::Remote::Adapters.check(kind, store, options)
          store
        rescue LoadError, StandardError => e
          message = ::Larder::Remote::Addresses.hide(e.message, arguments, options)
          raise InvalidArgument, "#{@option}: #{kind.inspect} cannot be made: #{message}", cause: nil
        end

        def memcached(arguments, options)
          require_relative "memcached"
          Memcached.new(*arguments, options)
        end

        def with_waits(kind, options)
          return { **options, raise_errors: true } if kind == :larder_store

          options.keys.intersect?(TIMEOUTS) ? options : { **WAITS.fetch(kind, {}), **options }
        end

        # LarderStore answers a miss while its file cannot be opened, or its remote store does not answer.
        def refuse_hiding(store, made:)
          return unless defined?(ActiveSupport::Cache::LarderStore) && store.is_a?(ActiveSupport::Cache::LarderStore)

          if store.remote
            raise InvalidArgument, "#{@option}: is a LarderStore with remote:, which answers a miss while that store " \
                                   "does not answer: give the store of remote: itself; cache: takes backplane:, too"
          elsif !made
            raise InvalidArgument, "#{@option}: is a LarderStore that is made already, which answers a miss while " \
                                   "its file cannot be opened: name it, as in [:larder_store, path]"
          end
        end

        # Only this process writes to a store in memory. Redis' reads raw Strings without a coder.
        def checked(store)
          refuse_nothing(store)
          return store if store.is_a?(ActiveSupport::Cache::MemoryStore)
          return store if memcached?(store) || self.class.of?(store, REDIS) || bytes?(store)

          raise InvalidArgument, "#{@option}: a #{store.class} that is made already reads Marshal, by which whoever " \
                                 "can write to it runs code: name the store, as in [:redis_cache_store, { url: }]. " \
                                 "Any but memcached's may be made with coder: Larder::Sessions::Backends::BytesCoder"
        end

        # Rails' cache in development, until caching is turned on there.
        def refuse_nothing(store)
          return unless store.is_a?(ActiveSupport::Cache::NullStore)

          raise InvalidArgument, "#{@option}: is a NullStore, which keeps no sessions: give a store that does, as " \
                                 "[:redis_cache_store, { url: }], or keep them in a file: without #{@option}:"
        end

        def memcached?(store)
          defined?(Memcached) && store.is_a?(Memcached)
        end

        # The client of memcached calls Marshal before any coder.
        def bytes?(store)
          entry = ActiveSupport::Cache::Entry.new("a session")
          !self.class.of?(store, MEMCACHED) && store.send(:serialize_entry, entry) == BytesCoder.dump(entry)
        end
      end
    end
  end
end
