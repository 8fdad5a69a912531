# frozen_string_literal: true

# The calls of the remote store.

require "forwardable"
require "larder/bytes/signal_handler"
require "larder/remote/adapters"
require "larder/remote/builder"
require "larder/remote/circuit_breaker"
require "larder/remote/heartbeat"
require "larder/remote/scripted_leases"

module Larder
  module Remote
    # The store must not be asked, because it has not got all changes.
    class Waiting < RemoteError
      # @api private
      def initialize
        super("the remote store has not got all changes of this machine yet")
      end
    end

    # The store has answered that it cannot do what it was asked for.
    class Refused < RemoteError; end

    # Entries in a store of any kind, under whole keys. Unlike that store's own methods, these raise {RemoteError} if
    # it cannot serve. A circuit breaker keeps callers from waiting for a server that hangs.
    #
    # If the client has an {Outbox}, its reads raise {Waiting} for keys whose changes the store has not got.
    # @api private
    class Client
      extend Forwardable

      # Calls that may take long.
      LONG = %i[clear delete_matched].freeze
      # Keys have their namespace when they come here.
      NO_NAMESPACE = { namespace: nil }.freeze
      # A key that is read to find out whether the store answers.
      PROBE = "larder/probe"
      NO_TERMS = {}.freeze
      private_constant :LONG, :NO_NAMESPACE, :PROBE, :NO_TERMS

      # LarderStore sends the events.
      module Quiet
        private

        def instrument(*)
          yield({}) if block_given?
        end
      end
      private_constant :Quiet

      # @return [ActiveSupport::Cache::Store]
      attr_reader :store
      # @return [String] which servers it is on
      attr_reader :identity
      # @return [String, Proc, nil] of the caller, or else of the store
      attr_reader :namespace
      # @return [Outbox, nil]
      attr_reader :outbox
      # @return [Heartbeat]
      attr_reader :heartbeat
      # @return [ScriptedLeases]
      attr_reader :scripted_leases

      # As of Adapters::Any.
      def_delegators :@adapter, :bytes?, :literal, :matches?, :raw_counters?

      # @param given [ActiveSupport::Cache::Store, Symbol, Array, Adapters::Any] a store, what config.cache_store takes,
      #   or the adapter of a store
      # @param id [String, nil] names its servers, where that cannot be found out
      # @param sign_with [String, Array<String>, nil] the key of signatures, see Larder::Codecs
      # @param namespace [String, Proc, nil] of the caller
      # @param flights [Boolean] do all fetches take leases?
      # @param hidden [Array<Symbol>] options of the caller's calls that the store does not get
      # @raise [ArgumentError] it is not a store, or a LarderStore, has another namespace, or its servers are not
      #   known
      def initialize(given, id: nil, sign_with: nil, namespace: nil, flights: false, hidden: [])
        @adapter = given.is_a?(Adapters::Any) ? given : adapter_of(given, sign_with)
        @store = @adapter.store
        @namespace = one_namespace(namespace, @store.options[:namespace])
        @identity = Servers.identity(@adapter, given, id)
        @breaker = CircuitBreaker.new(hung: @adapter.hung_after) { |error| unanswered?(error) }
        @heartbeat = Heartbeat.new(self)
        @scripted_leases = ScriptedLeases.new(self, @adapter)
        @plain_names = @adapter.plain_names?
        @flights = flights
        @hidden = hidden
      end

      # From now on, reads wait for the changes that it lists.
      #
      # @param outbox [Outbox]
      # @return [void]
      def use(outbox)
        @outbox = outbox
        @journal = outbox.journal
      end

      # Makes a call of the store. The handler of a signal makes none: clients and pools take locks, and the call that
      # it has interrupted may have the connection.
      #
      # @param method [Symbol] for errors
      # @return [Object] the block's value
      # @raise [RemoteError] in place of the errors of the store's client
      def attempt(method, &block)
        raise RemoteError, "the handler of a signal cannot ask the remote store to #{method}" if SignalHandler.runs?

        @breaker.call(long: LONG.include?(method), &block)
      rescue CircuitBreaker::OpenError => e
        raise RemoteError, "the remote store could not #{method}: #{e.message}"
      rescue *@adapter.errors => e
        type = @adapter.refused?(e) ? Refused : RemoteError
        raise type, "the remote store could not #{method}: #{e.class}: #{e.message}"
      end

      # Makes no calls for a pause.
      # @return [void]
      def pause
        @breaker.open
      end

      # @return [Boolean] does the breaker refuse calls at this moment, because the last ones have failed late?
      def pauses?
        @breaker.open?
      end

      # @return [Boolean]
      def answers?
        attempt(:read) { @store.send(:read_entry, name_of(own_key(PROBE))) }
        true
      rescue RemoteError
        false
      end

      # @return [Boolean] may some of its servers answer while others do not?
      # @raise [RemoteError]
      def several?
        attempt(:ask) { @adapter.several? }
      end

      # @return [String] without the store's options, which may have passwords
      def inspect
        "#<#{self.class.name} #{@identity}>"
      end

      # @param text [String]
      # @return [String] a key of Larder's own in the namespace
      def own_key(text)
        @store.send(:namespace_key, text, { namespace: @namespace }).b
      end

      # @param text [String]
      # @return [String] the same; in no namespace if a Proc makes it, which may be another one later and in a thread
      def lasting_key(text)
        @namespace.respond_to?(:call) ? text.b : own_key(text)
      end

      # ---- reads ----

      # @return [ActiveSupport::Cache::Entry, nil] also one that has expired
      # @raise [Waiting] the key is listed
      def read(key, raw: false)
        @journal&.quiet? || wait_for(key)
        attempt(:read) { @store.send(:read_entry, name_of(key), **(raw ? { raw: raw } : NO_TERMS)) }
      end

      # A raw value, also while changes are listed.
      #
      # @return [String, nil]
      def read_listed(key)
        attempt(:read) { @store.send(:read_entry, name_of(key), raw: true)&.value }
      end

      # As {#read} for many, by one call of the store.
      #
      # @return [Hash{String=>Object}] of the keys that were found, for {#entries_of}
      # @raise [Waiting] it is not known which keys are listed
      def read_multi(keys, raw: false)
        keys = to_ask(keys)
        return {} if keys.empty?

        attempt(:read_multi) { @adapter.find(keys, keys.map { |key| name_of(key) }, raw) }
      end

      # As {#read_multi}, where the keys of a server that does not answer must not count as missing.
      #
      # @return (see #read_multi)
      # @raise (see #read_multi)
      def read_whole(keys, raw: false)
        keys = to_ask(keys)
        return {} if keys.empty?

        attempt(:read_multi) { @adapter.find_whole(keys, keys.map { |key| name_of(key) }, raw) }
      end

      # @param found [Hash{String=>Object}] what {#read_multi} has found
      # @return [Hash{String=>ActiveSupport::Cache::Entry}]
      def entries_of(found, raw: false)
        attempt(:read_multi) { @adapter.entries_of(found, raw) }
      end

      # ---- changes ----

      # @param entry [ActiveSupport::Cache::Entry]
      # @param kept_in [Float, nil] seconds after which the store may forget it
      # @param more [Hash] unless_exist
      # @return [Boolean] was it stored?
      def write(key, entry, kept_in, more = NO_TERMS)
        @journal&.quiet? || wait_for(key) if more[:unless_exist]
        attempt(:write) do
          @store.send(:write_entry, name_of(key), entry, **terms(kept_in), **more) ? true : false
        end
      end

      # @param entries [Hash{String=>ActiveSupport::Cache::Entry}]
      # @param more [Hash] unless_exist, which some stores do not obey here
      def write_multi(entries, kept_in, more = NO_TERMS)
        named = entries.transform_keys { |key| name_of(key) }
        attempt(:write_multi) do
          @store.send(:write_multi_entries, named, **terms(kept_in), **more) ? true : false
        end
      end

      # Reads entries and then writes others, by one call.
      #
      # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] that are written
      # @param keys [Array<String>] that are read
      # @return [Hash{String=>ActiveSupport::Cache::Entry}, nil] what was there; nil: the store needs two calls, and
      #   nothing was written
      # @raise [Waiting] not all of the keys may be read
      def write_and_find(entries, kept_in, keys)
        raise Waiting unless to_ask(keys).size == keys.size

        found = attempt(:write_multi) do
          next unless @adapter.writes_and_finds?

          named = entries.transform_keys { |key| name_of(key) }
          @adapter.write_and_find(named, terms(kept_in), keys, keys.map { |key| name_of(key) })
        end
        found && entries_of(found)
      end

      # Raises if the entry can never be written.
      #
      # @param entry [ActiveSupport::Cache::Entry]
      # @return [void]
      # @raise [StandardError] the store cannot serialize its value
      def check(entry)
        @store.send(:serialize_entry, entry)
      end

      # @return [Boolean] was it there?
      def delete(key)
        attempt(:delete) { @store.send(:delete_entry, name_of(key)) ? true : false }
      end

      # Ends the leases of the keys first: who computes a value under one does not store it then.
      #
      # @return [Integer] how many were there
      def delete_multi(keys)
        attempt(:delete_multi) do
          leases = ends_leases? ? keys.map { |key| name_of(Remote.lease_key(key)) } : []
          @adapter.delete(leases, keys.map { |key| name_of(key) })
        end
      end

      # @return [Boolean] does a delete of a key end its lease? Some stores do that only where all fetches take leases
      def ends_leases?
        @flights || @adapter.at_once?
      end

      # A store may delete its keys one after the other, and a lease after the value that was stored under it. Where
      # all fetches take leases, a first call deletes these, and a second one the values; as in {#delete_matched}.
      #
      # @param prefix [String] what the keys start with; empty: all
      def clear(prefix, options = NO_TERMS)
        namespace = literal(prefix.delete_suffix(":")) unless prefix.empty?
        (@flights ? 2 : 1).times { call(:clear, **options.except(*@hidden), namespace: namespace) }
      end

      # @param pattern [Regexp, String] of keys
      # @return [Integer, true] how many were deleted; true: the store does not say
      def delete_matched(pattern)
        patterns = [pattern]
        patterns.unshift(pattern.is_a?(String) ? Remote.lease_key(pattern) : pattern) if @flights
        answer = patterns.map { |matcher| call(:delete_matched, matcher, **NO_NAMESPACE) }.last
        answer.is_a?(Integer) ? answer : true
      end

      # ---- changes that the store computes ----

      # @param operation [Symbol] increment or decrement
      # @return [Integer, nil] as of the store's method
      # @raise (see #read)
      def count(operation, key, amount, options)
        wait_for(key)
        expecting([key], sent: true) { call(operation, key, amount, **terms_of_call(options)) }
      end

      # @return [Boolean] has the store a compare-and-swap?
      def swaps?
        @store.respond_to?(:cas) && @store.respond_to?(:cas_multi)
      end

      # As of the store's method.
      def cas(key, options)
        wait_for(key)
        expecting([key]) do |send|
          attempt(:cas) do
            @store.cas(name_of(key), terms_of_call(options)) { |value| send.call(yield(value)) }
          end
        end
      end

      # The same for many. The block gets those values by key that were found.
      def cas_multi(keys, options)
        names = to_ask(keys).to_h { |key| [name_of(key), key] }
        expecting(names.values) do |send|
          attempt(:cas_multi) do
            @store.cas_multi(*names.keys, **terms_of_call(options)) do |values|
              send.call(yield(values.transform_keys(names)).transform_keys(names.invert))
            end
          end
        end
      end

      # @return [Array<String>] those of the keys that the store may be asked for
      # @raise [Waiting] it may not be asked for any
      def to_ask(keys)
        @journal.nil? || @journal.quiet? ? keys : @outbox.to_ask(keys)
      end

      # @return [Boolean] may the store be asked for the key? false: it has not got a change of it, or gets it once more
      # @raise [RemoteError] as of Outbox#ready?
      def ask?(key)
        to_ask([key]).any?
      rescue Waiting
        false
      end

      # As the store makes it, which takes twenty calls. A Regexp raises for text that is not valid in its encoding.
      #
      # @return [String] the store's name of a key
      def name_of(key)
        return key if @plain_names && key.ascii_only? && Adapters::ORDINARY.match?(key)

        @store.send(:normalize_key, key, NO_NAMESPACE)
      end

      private

      def adapter_of(given, sign_with)
        store = Builder.store(given, sign_with)
        adapter = Adapters.of(store, !store.equal?(given) || store.is_a?(Adapters::Own))
        adapter.store.extend(Quiet) unless adapter.store.equal?(given)
        adapter
      end

      def wait_for(key)
        raise Waiting unless ask?(key)
      end

      # If one of several servers does not answer, the others are called.
      #
      # @param error [StandardError, nil] nil: the call was interrupted
      def unanswered?(error)
        known = error.nil? || @adapter.errors.any? { |type| error.is_a?(type) }
        known && !(error && @adapter.refused?(error)) && !@adapter.several?
      rescue *@adapter.errors
        true
      end

      def expecting(keys, sent: false, &block)
        @outbox ? @outbox.expecting(keys, sent: sent, &block) : yield(:itself.to_proc)
      end

      def terms_of_call(options)
        options.except(*@hidden, :version).merge(NO_NAMESPACE)
      end

      def one_namespace(own, theirs)
        return own || theirs if own.nil? || theirs.nil? || own == theirs

        raise ::ArgumentError, "namespace: of LarderStore is #{own.inspect}, and that of its remote: is " \
                               "#{theirs.inspect}; both have the same keys: give one of them"
      end

      def call(method, *arguments, **options)
        attempt(method) { @store.public_send(method, *arguments, **options) }
      end

      def terms(kept_in)
        kept_in ? { expires_in: @adapter.ttl(kept_in) } : NO_TERMS
      end
    end
  end
end
