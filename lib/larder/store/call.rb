# frozen_string_literal: true

# One call of the store, with everything that was decided about it at its beginning.

require "larder/store/keys"
require "larder/store/tag_texts"

module Larder
  module Store
    # The key and version of an entry, and the options of the call merged with those of the store. Nothing of it changes
    # afterwards: the block of a `fetch` changes a copy of the options, and its write is another call.
    # @api private
    class Call
      # Seconds, where the options are not given.
      WAIT = Options.default(:wait)
      LEASE = Options.default(:lease)
      # With these options, an entry is kept after it has expired.
      STALE = %i[stale_while_revalidate stale_if_error].freeze
      # The longest of these is how long it is kept.
      WINDOWS = [*STALE, :race_condition_ttl].freeze

      class << self
        # @param options [Hash] of a call or of the store. One with a default has no option that was not given
        # @return [Boolean] true if one caller computes the value for all
        def single_flight?(options)
          (options.key?(:single_flight) && options[:single_flight] && !options[:force]) || false
        end

        # @return [Boolean] true if an entry is kept after it has expired, or with the time that its value took
        def keeps?(options)
          return false unless options.key?(:stale_while_revalidate) || options.key?(:stale_if_error) ||
                              options.key?(:early_refresh)

          options[:stale_while_revalidate] || options[:stale_if_error] || options[:early_refresh] ? true : false
        end

        # @return [Boolean] true if values are computed under leases
        def leases?(options)
          single_flight?(options) || keeps?(options)
        end
      end

      # @return [Object] as the caller gave it
      attr_reader :name
      # @return [String] in the file
      attr_reader :key
      # @return [Hash{Symbol=>Object}] those of the call, merged with those of the store
      attr_reader :options
      # @return [String, nil] of the entry
      attr_reader :version
      # @return [String] with which the keys of the namespace begin; empty: there is none
      attr_reader :prefix

      # @param name [Object]
      # @param key [String]
      # @param options [Hash]
      # @param version [String, nil]
      # @param prefix [String]
      def initialize(name, key, options, version = nil, prefix = "")
        @name = name
        @key = key
        @options = options
        @version = version
        @prefix = prefix
        @keeps = Call.keeps?(options)
        @single_flight = (options[:single_flight] && !options[:force]) || false
        @leases = @single_flight || @keeps
        @soft = (options[:soft_timeout] && options[:stale_if_error] && !options[:force]) || false
        freeze
      end

      # @!method shown
      #   @return [Object] the name of the entry in events and in the log
      if Keys::INSTRUMENTS_KEYS then alias shown key
      else alias shown name
      end

      # @return [Boolean]
      attr_reader :single_flight
      alias single_flight? single_flight

      # @return [Boolean]
      attr_reader :keeps
      alias keeps? keeps

      # @return [Boolean]
      attr_reader :leases
      alias leases? leases

      # @return [Boolean] true if an old value is the answer when a new one takes long
      attr_reader :soft
      alias soft? soft

      # @return [Boolean] true if deletions of tags, or of the namespace, may concern the entry
      def tagged?
        @options[:tags] || @options[:namespace] ? true : false
      end

      # @return [TagTexts]
      # @raise [ArgumentError] something is not a tag
      def texts
        TagTexts.of(@options[:tags], @prefix)
      end

      # @return [TagTexts] of the namespace alone
      def namespace_texts
        TagTexts.of(nil, @prefix)
      end

      # @return [Float] seconds that the call waits for another caller
      def wait
        (@options[:wait] || WAIT).to_f
      end

      # @return [Float] seconds
      def lease
        (@options[:lease] || LEASE).to_f
      end

      # @return [Integer] how many seconds a value that has expired is served while it is computed again
      def race
        @options[:race_condition_ttl].to_i
      end

      # @return [Float, nil] how many seconds an old value may be an answer, in the case that allows the most; nil: none
      def window
        STALE.filter_map { |name| @options[name]&.to_f }.max
      end

      # @param entry [ActiveSupport::Cache::Entry, nil]
      # @param window [Symbol] the option that says for how long a value is served after it has expired
      # @return [ActiveSupport::Cache::Entry, nil] the same, if this call may be answered with it
      def usable(entry, window)
        entry if entry && !entry.mismatched?(@version) && Call.within?(entry, @options[window])
      end

      # @param entry [ActiveSupport::Cache::Entry, nil]
      # @return [ActiveSupport::Cache::Entry, nil] the same, if this call may be answered with it in some case
      def old(entry)
        STALE.any? { |window| usable(entry, window) } ? entry : nil
      end

      # @param entry [ActiveSupport::Cache::Entry]
      # @param seconds [Numeric, nil]
      # @return [Boolean] true if it is fresh, or has expired less than that number of seconds ago
      def self.within?(entry, seconds)
        !entry.expired? || Clock.now - entry.expires_at < seconds.to_f
      end

      # @param key [String]
      # @return [Call] the same call for one key, if this one has several
      def of(key)
        Call.new(key, key, @options, @version, @prefix)
      end

      # The same entry in a call that begins later, and perhaps in another thread. The name may have changed by then,
      # and a namespace that is computed may be another one: so the key itself is its name.
      #
      # @return [Call]
      def later
        key = @key.dup.freeze
        options = @options.merge(namespace: nil, version: @version, tags: texts).except(:single_flight, :soft_timeout)
        Call.new(key, key, options, @version, @prefix)
      end
    end
  end
end
