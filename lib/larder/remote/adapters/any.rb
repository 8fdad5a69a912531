# frozen_string_literal: true

# Stores that are second levels without a server of their own kind.

require "active_support/cache/strategy/local_cache"
require "securerandom"

module Larder
  module Remote
    module Adapters
      # Serves any other store. The store itself decides which errors it raises, and which it answers by a miss.
      class Any
        # @param _arguments [Array<Object>] that the store is given
        # @param _options [Hash] that the store is given
        # @return [Hash{Symbol=>Object}] options unless others are given
        def self.defaults(_arguments, _options)
          {}
        end

        # @param _store [ActiveSupport::Cache::Store] that was just made
        # @param _options [Hash] that it was given
        # @raise [StandardError] of options that it takes, and that its client refuses
        def self.check(_store, _options); end

        # @return [ActiveSupport::Cache::Store] that raises where it could not serve
        attr_reader :store

        # @param store [ActiveSupport::Cache::Store]
        # @param _own [Boolean] does only LarderStore use its connections?
        def initialize(store, _own)
          @store = store
        end

        # @return [Array<Class>] that mean that the store could not serve
        def errors
          [SystemCallError, IOError]
        end

        # @param _error [StandardError] one of {#errors}
        # @return [Boolean] has a server answered by it, so that the request will not arrive later?
        def refused?(_error)
          false
        end

        # @return [String, nil] which servers it is on (see Servers); nil: that is not known
        def servers; end

        # @return [Numeric, nil] seconds after which a call hangs (see CircuitBreaker); nil: the client has a timeout
        def hung_after; end

        # @return [Boolean] does it leave a key as it is that is {ORDINARY}, but for a namespace?
        def plain_names?
          false
        end

        # @return [Boolean] may some of its servers answer while others do not?
        def several?
          false
        end

        # @return [Boolean] does it delete several keys by one command, all at the same moment?
        def at_once?
          false
        end

        # @return [RedisLeases, nil] nil: leases are taken and checked by calls of the store
        def leases; end

        # @return [Boolean] has it {Redis#write_and_find}?
        def writes_and_finds?
          false
        end

        # @param _pattern [Regexp, String]
        # @return [Boolean] does its delete_matched take such a pattern? Otherwise it raises
        def matches?(_pattern)
          method = @store.method(:delete_matched)
          method = method.super_method if method.owner == ActiveSupport::Cache::Strategy::LocalCache
          method.owner != ActiveSupport::Cache::Store
        end

        # @param text [String] what keys begin with
        # @return [String] the same in the patterns of its clear and delete_matched
        def literal(text)
          text
        end

        # Deletes entries, others before them.
        #
        # @param before [Array<String>]
        # @param names [Array<String>]
        # @return [Integer] how many of the names were there. One command for all may count an entry before them
        def delete(before, names)
          return [delete_all(before + names), names.size].min if at_once?

          delete_all(before) if before.any?
          delete_all(names)
        end

        # @param seconds [Float] that an entry is to be kept
        # @return [Numeric] as the store takes them
        def ttl(seconds)
          [seconds, 0.001].max
        end

        # @return [Boolean] does {#find} find bytes of Rails' coder, which are not signed?
        def bytes?
          false
        end

        # @return [Boolean] does only a read with raw: find a counter?
        def raw_counters?
          false
        end

        # @param keys [Array<String>]
        # @param names [Array<String>] the same as the store has them
        # @return [Hash{String=>Object}] what is there, by the keys, for {#entries_of}
        def find(keys, names, raw)
          by_key(keys, names.map { |name| @store.send(:read_entry, name, **(raw ? { raw: true } : {})) })
        end

        # As {#find}, and raises where a server has not answered for some of the keys.
        def find_whole(...)
          find(...)
        end

        # @param found [Hash{String=>Object}] as of {#find}
        # @return [Hash{String=>ActiveSupport::Cache::Entry}] also entries that have expired
        def entries_of(found, _raw)
          found
        end

        private

        def delete_all(names)
          @store.send(:delete_multi_entries, names).to_i
        end

        # @param found [Array<Object, nil>] in the order of the keys
        def by_key(keys, found)
          keys.zip(found).to_h.compact
        end
      end

      # FileStore.
      class Files < Any
        def servers
          File.expand_path(@store.cache_path)
        end
      end

      # MemoryStore and NullStore, which no other process can read.
      class Private < Any
        PROCESS = SecureRandom.hex(8)
        private_constant :PROCESS

        def servers
          "#{PROCESS} #{Process.pid} #{@store.object_id}"
        end
      end
    end
  end
end
