# frozen_string_literal: true

# The second level: a Rails store that several machines share.

require "forwardable"
require "larder/store/configuration"
require "larder/store/monotonic_clock"
require "larder/store/remote/adapters"
require "larder/store/remote/builder"
require "larder/store/remote/calls"
require "larder/store/remote/heartbeat"
require "larder/store/remote/journal"

module Larder
  module Store
    # Entries in a store of any kind, under the keys that LarderStore makes. Unlike that store's own methods, these
    # raise if it cannot serve.
    #
    # A change that could not be applied is listed in a journal. Until all listed changes are applied, the remote store
    # is not asked for anything: it may have what this machine has deleted. If it is several servers, of which others
    # may answer, it is asked for keys that are not listed.
    #
    # A write that was given up, because it took too long or was interrupted, may arrive later than a change of the same
    # key that was applied. So listed changes are applied twice, some seconds apart. A key is not read until then.
    # If the journal overflows, it is unknown what to delete. Then the remote store is cleared.
    # @api private
    class Remote
      extend Forwardable
      include MonotonicClock

      # Keys have their namespace when they come here.
      NO_NAMESPACE = { namespace: nil }.freeze
      # The options of LarderStore alone.
      OWN = %i[single_flight wait lease stale_while_revalidate stale_if_error soft_timeout early_refresh jitter
               tags].freeze
      # A key that is read to find out whether the store answers.
      PROBE = "larder/probe"
      # Seconds between two attempts to apply what the journal lists, after a failure and otherwise.
      RETRY = 1
      PAUSE = 0.1
      private_constant :NO_NAMESPACE, :OWN, :PROBE, :RETRY, :PAUSE

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
      # @return [Journal]
      attr_reader :journal
      # @return [Heartbeat]
      attr_reader :heartbeat
      # @return [String] which servers it is on
      attr_reader :identity
      # @return [String, Proc, nil] of LarderStore, or else of the store
      attr_reader :namespace

      # As of Adapters::Any.
      def_delegators :@adapter, :bytes?, :matches?, :raw_counters?

      # @param key [String]
      # @return [String] the key of its lease. It begins with the key, so a delete of a prefix ends leases, too
      def self.lease_key(key)
        key.b << "/larder/lease"
      end

      # @param given [ActiveSupport::Cache::Store, Symbol, Array] a store, or what config.cache_store takes
      # @param journal [String] the path of the journal
      # @param id [String, nil] names its servers, where that cannot be found out
      # @param backplane [String] its servers, see Backplane::Address#place
      # @param sign_with [String, Array<String>, nil] the key of signatures, see Larder::Codecs
      # @param namespace [String, Proc, nil] of LarderStore
      # @param flights [Boolean] do all fetches take leases?
      # @raise [ArgumentError] it is not a store, or a LarderStore, has another namespace, or its servers are not known
      def initialize(given, journal:, id: nil, backplane: "", sign_with: nil, namespace: nil, flights: false)
        @store = Builder.store(given, sign_with)
        @adapter = Adapters.of(@store, !@store.equal?(given))
        @store = @adapter.store
        @store.extend(Quiet) unless @store.equal?(given)
        @namespace = one_namespace(namespace, @store.options[:namespace])
        @identity = Servers.identity(@adapter, given, id)
        @journal = Journal.new(journal, remote: Configuration.number(@identity), prefix: -> { own_key("") },
                                        backplane: Configuration.number(backplane))
        @heartbeat = Heartbeat.new(self)
        @calls = Calls.new(@adapter, @journal)
        @plain_names = @adapter.plain_names?
        @flights = flights
        @retry_at = 0
        @applied = []
      end

      # @yieldparam kind [Symbol] of changes of the journal that were applied, as of Journal#note
      # @yieldparam texts [Array<String>] the same. If the block raises a RemoteError, the changes stay listed
      # @return [void]
      def when_applied(&block)
        @applied += [block]
      end

      # May it be asked? Applies what the journal lists, if that is due.
      # @return [Boolean]
      # @raise [RemoteError] what the journal lists could not be applied, or the journal not opened
      def ready?
        reading_journal { caught_up? || in_part? }
      end

      # Yields to apply a change, or lists it. What another thread's exception interrupts is listed, too.
      #
      # @param kind [Symbol] as of Journal#note
      # @param texts [Array<String>]
      # @param entries [Array<ActiveSupport::Cache::Entry>] that are written: if one cannot be, nothing is listed
      # @return [Object, nil] what the block returned; nil: the change is listed
      # @raise [RemoteError] the same, and the store did not answer
      def change(kind, texts, entries = [])
        settled = false
        asked = ready? && ((quiet = @journal.quiet?) || clear_of?(kind, texts))
        since = monotonic_now
        answer = yield if asked
        settled = asked
        @journal.changed(kind, texts) if settled && !quiet
        @journal.expect(texts) if settled && entries.any? && @calls.slow?(since)
        answer
      rescue StandardError, ScriptError => e
        settled = mistaken?(kind, entries) unless e.is_a?(RemoteError)
        raise
      ensure
        @journal.note(kind, texts) unless settled
      end

      # Yields to change keys that keep their values if that fails. If it is given up, it is expected to arrive later.
      #
      # @param keys [Array<String>]
      # @return [Object] what the block returned
      # @raise [RemoteError]
      def keeping(keys)
        @calls.expecting(keys, sent: true) { yield }
      end

      # @return [Boolean]
      def answers?
        @calls.attempt(:read) { @store.send(:read_entry, name_of(own_key(PROBE))) }
        true
      rescue RemoteError
        false
      end

      # The remote store is not called for a pause: changes are listed, and other machines get their messages later.
      # @return [void]
      def give_up
        @calls.pause
        @journal.unsent!
      end

      # @return [Hash{Symbol=>Object}] for people, without asking the remote store
      def stats
        { store: @store.class.name, **@journal.stats }
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

      # @return [ActiveSupport::Cache::Entry, nil] also one that has expired
      # @raise [Waiting] the key is listed
      def read(key, options = {})
        wait_for([key])
        @calls.attempt(:read) { @store.send(:read_entry, name_of(key), **options.slice(:raw)) }
      end

      # A raw value, also while the journal lists changes.
      #
      # @return [String, nil]
      def read_listed(key)
        @calls.attempt(:read) { @store.send(:read_entry, name_of(key), raw: true)&.value }
      end

      # As {#read} for many, by one call of the remote store.
      #
      # @return [Hash{String=>Object}] of the keys that were found, for {#entries_of}
      def read_multi(keys, raw: false)
        keys = to_ask(keys)
        return {} if keys.empty?

        @calls.attempt(:read_multi) { @adapter.find(keys, keys.map { |key| name_of(key) }, raw) }
      end

      # @param found [Hash{String=>Object}] what {#read_multi} has found
      # @return [Hash{String=>ActiveSupport::Cache::Entry}]
      def entries_of(found, raw: false)
        @calls.attempt(:read_multi) { @adapter.entries_of(found, raw) }
      end

      # @param entry [ActiveSupport::Cache::Entry]
      # @param kept_in [Float, nil] seconds after which the remote store may forget it
      # @param more [Hash] unless_exist
      # @return [Boolean] was it stored?
      def write(key, entry, kept_in, more = {})
        wait_for([key]) if more[:unless_exist]
        @calls.attempt(:write) do
          @store.send(:write_entry, name_of(key), entry, **terms(kept_in), **more) ? true : false
        end
      end

      # @param entries [Hash{String=>ActiveSupport::Cache::Entry}]
      def write_multi(entries, kept_in)
        named = entries.transform_keys { |key| name_of(key) }
        @calls.attempt(:write_multi) { @store.send(:write_multi_entries, named, **terms(kept_in)) ? true : false }
      end

      # @return [Boolean] was it there?
      def delete(key)
        @calls.attempt(:delete) { @store.send(:delete_entry, name_of(key)) ? true : false }
      end

      # Ends the leases of the keys first: who computes a value under one does not store it then.
      #
      # @return [Integer] how many were there
      def delete_multi(keys)
        @calls.attempt(:delete_multi) do
          leases = ends_leases? ? keys.map { |key| name_of(Remote.lease_key(key)) } : []
          @adapter.delete(leases, keys.map { |key| name_of(key) })
        end
      end

      # @return [Boolean] does a delete of a key end its lease? Some stores do that only where all fetches take leases
      def ends_leases?
        @flights || @adapter.at_once?
      end

      # A store may delete its keys one after the other, and a lease after the value that was stored under it. Where all
      # fetches take leases, a first call deletes these, and a second one the values; as in {#delete_matched}.
      #
      # @param prefix [String] what the keys start with; empty: all
      def clear(prefix, options = {})
        namespace = prefix.delete_suffix(":") unless prefix.empty?
        (@flights ? 2 : 1).times { call(:clear, **options.except(*OWN), namespace: namespace) }
      end

      # @param pattern [Regexp, String] of keys
      def delete_matched(pattern)
        patterns = [pattern]
        patterns.unshift(pattern.is_a?(String) ? Remote.lease_key(pattern) : pattern) if @flights
        patterns.each { |matcher| call(:delete_matched, matcher, **NO_NAMESPACE) }
      end

      # @param operation [Symbol] increment or decrement
      # @return [Integer, nil] as of the remote store's method
      def count(operation, key, amount, options)
        wait_for([key])
        keeping([key]) { call(operation, key, amount, **terms_of_call(options)) }
      end

      # @return [Boolean] has the store a compare-and-swap?
      def swaps?
        @store.respond_to?(:cas) && @store.respond_to?(:cas_multi)
      end

      # As of the remote store's method.
      def cas(key, options)
        wait_for([key])
        @calls.expecting([key]) do |send|
          @calls.attempt(:cas) { @store.cas(name_of(key), terms_of_call(options)) { |value| send.call(yield(value)) } }
        end
      end

      # The same for many. The block gets those values by key that were found.
      def cas_multi(keys, options)
        names = to_ask(keys).to_h { |key| [name_of(key), key] }
        @calls.expecting(names.values) do |send|
          @calls.attempt(:cas_multi) do
            @store.cas_multi(*names.keys, **terms_of_call(options)) do |values|
              send.call(yield(values.transform_keys(names)).transform_keys(names.invert))
            end
          end
        end
      end

      private

      def terms_of_call(options)
        options.except(*OWN, :version).merge(NO_NAMESPACE)
      end

      # Is it several servers, and is it known which keys to wait for?
      def in_part?
        @journal.of_keys? && @calls.attempt(:ask) { @adapter.several? }
      end

      # Was the store asked for what it cannot do, rather than interrupted?
      def mistaken?(kind, entries)
        entries.each { |entry| @store.send(:serialize_entry, entry) }
        kind != :delete
      rescue StandardError
        true
      end

      # True if the remote store has got all changes before this one.
      def clear_of?(kind, texts)
        @journal.empty? || (kind == :delete && reading_journal { @journal.applied?(texts) })
      end

      def wait_for(keys)
        raise Waiting if to_ask(keys).empty?
      end

      # @return [Array<String>] those of the keys for which the remote store may be asked
      # @raise [Waiting] it may not be asked for any
      def to_ask(keys)
        reading_journal do
          next keys if @journal.quiet?

          caught_up? ? (@journal.of_keys? || raise(Waiting)) : (in_part? || raise(Waiting))
          @journal.unlisted(keys)
        end
      end

      # Applies the changes that are due. True if the remote store has got all changes then.
      def caught_up?
        return true if @journal.quiet?

        catch_up_if_due if @journal.due?
        @journal.empty?
      end

      def reading_journal
        yield
      rescue RemoteError
        raise
      rescue Larder::Error => e
        raise RemoteError, "the remote store is not asked, as its journal cannot be read: #{e.message}"
      end

      def one_namespace(own, theirs)
        return own || theirs if own.nil? || theirs.nil? || own == theirs

        raise ::ArgumentError, "namespace: of LarderStore is #{own.inspect}, and that of its remote: is " \
                               "#{theirs.inspect}; both have the same keys: give one of them"
      end

      def call(method, *arguments, **options)
        @calls.attempt(method) { @store.public_send(method, *arguments, **options) }
      end

      # As the store makes it, which takes twenty calls. A Regexp raises for text that is not valid in its encoding.
      def name_of(key)
        return key if @plain_names && key.ascii_only? && Adapters::ORDINARY.match?(key)

        @store.send(:normalize_key, key, NO_NAMESPACE)
      end

      # If one of several servers does not answer, others may be asked.
      def catch_up_if_due
        return if monotonic_now < @retry_at

        @retry_at = monotonic_now + RETRY
        catch_up
      rescue RemoteError
        in_part? || raise
      end

      # Applies the changes of the journal that are due. Refusals of the store are reported each time.
      def catch_up
        if @journal.overflown?
          @journal.recover do |prefixes|
            prefixes.each { |prefix| clear(prefix) }
            @journal.repeat(:clear, prefixes)
            @applied.each { |block| block.call(:clear, prefixes) }
          end
        end
        @journal.each do |kind, texts|
          kind == :delete ? delete_multi(texts) : texts.each { |text| apply(kind, text) }
          @applied.each { |block| block.call(kind, texts) }
        end
        @retry_at = monotonic_now + PAUSE
      end

      # The list of another remote store, which was copied, may have patterns that this one does not take.
      def apply(kind, text)
        kind == :delete_matched && !matches?(text) ? clear("") : public_send(kind, text)
      end

      def terms(kept_in)
        kept_in ? { expires_in: @adapter.ttl(kept_in) } : {}
      end
    end
  end
end
