# frozen_string_literal: true

# The options of the store and of its calls: one table of names, places and types, and the checks made by it.
# docs/reference/options.md describes the same options, and its test compares both.

require "active_support/duration"
require "larder/store/addresses"
require "larder/tagging"

module Larder
  module Store
    # A wrong value is an ArgumentError that names the option. An unknown name is logged once, see UnknownOptions. The
    # constructor is strict. A call accepts every value that Rails' stores accept there, because its code may be used
    # with several stores: any object is true or false, any object with to_s is a namespace.
    module Options
      # Both places, the constructor alone, calls alone.
      BOTH = %i[store call].freeze
      STORE = %i[store].freeze
      CALL = %i[call].freeze

      # The values that an option takes: words for a message, and a test.
      Type = Struct.new(:words, :test)

      # `store` and `call` are the Types of a value there.
      Option = Struct.new(:name, :places, :store, :call)

      # @param value [Object]
      # @return [Boolean] true if it is a length of time in seconds; NaN is not
      def self.seconds?(value)
        number?(value.is_a?(ActiveSupport::Duration) ? value.value : value)
      end

      # @return [Boolean] true if it is a real number
      def self.number?(value)
        value.is_a?(Integer) || (value.is_a?(Numeric) && value.real? && !(value.respond_to?(:nan?) && value.nan?))
      end

      # @param range [Range] of seconds
      # @return [Type] of lengths in the range
      def self.length(words, range)
        Type.new(words, ->(value) { value.nil? || (seconds?(value) && range.cover?(value.to_f)) })
      end

      # @return [Type] of lengths from `least` seconds on
      def self.length_from(least)
        most = Larder::Cache::MAX_TTL
        length("seconds as a number or duration, from #{least} to #{most}", least..most)
      end

      # @return [Boolean] true if it names a codec, or is left out
      def self.name?(value)
        value.nil? || value.is_a?(Symbol) || value.is_a?(String)
      end

      def self.tags?(value)
        Tagging.texts(value || nil) && true
      rescue ::ArgumentError
        false
      end

      POSITIVE = 0.0.next_float
      # Seconds that a block, or what replaces its value, takes at least.
      SHORTEST = 0.001
      # Shortest :max_key_size: one byte and the digest's suffix.
      SHORTEST_MAX_KEY = 1 + ":hash:".bytesize + 32

      ANY = Type.new("anything", ->(_) { true })
      SWITCH = Type.new("true or false", ->(value) { [true, false, nil].include?(value) })
      SECONDS = Type.new("seconds as a number or duration", ->(value) { value.nil? || seconds?(value) })
      # Rails itself refuses a Time, and names expires_at.
      LIFE = Type.new(SECONDS.words, ->(value) { value.nil? || seconds?(value) || value.is_a?(Time) })
      # Rails' stores call to_i.
      RACE = Type.new(SECONDS.words, lambda do |value|
        !(value.respond_to?(:nan?) && value.nan?) && value.respond_to?(:to_i) && value.respond_to?(:to_f)
      end)
      MOMENT = Type.new("a Time, as of 5.minutes.from_now",
                        ->(value) { !value || value.is_a?(Time) || value.is_a?(DateTime) })
      BYTES = Type.new("bytes as a number", ->(value) { !value || number?(value) })
      PREFIX = Type.new("a String, a Symbol, something that can be called, or nil", lambda do |value|
        !value || value.is_a?(String) || value.is_a?(Symbol) || value.respond_to?(:call)
      end)
      PART = Type.new("a part of the time, from 0 to 1",
                      ->(value) { value.nil? || (number?(value) && (0..1).cover?(value)) })
      TAGS = Type.new("Strings, Symbols, Integers, records and their classes, or an Array of these", method(:tags?))
      KEY_LIMIT = Type.new("bytes as an Integer from #{SHORTEST_MAX_KEY} on, or false",
                           ->(value) { !value || (value.is_a?(Integer) && value >= SHORTEST_MAX_KEY) })
      HANDLER = Type.new("something that can be called, or nil", ->(value) { value.nil? || value.respond_to?(:call) })
      CODER = Type.new("an object with dump and load, whose dump makes a String of an entry; leave it out for " \
                       "Larder's own", ->(value) { value.respond_to?(:dump) && value.respond_to?(:load) })
      # Settings looks the names up.
      SERIALIZER = Type.new("a name, or an object with dump and load",
                            ->(value) { name?(value) || (value.respond_to?(:dump) && value.respond_to?(:load)) })
      COMPRESSOR = Type.new("a name, or an object with deflate and inflate",
                            ->(value) { name?(value) || (value.respond_to?(:deflate) && value.respond_to?(:inflate)) })
      REMOTE = Type.new("a store, or what config.cache_store takes: [:redis_cache_store, { url: … }]", lambda do |value|
        value.nil? || value.is_a?(ActiveSupport::Cache::Store) || [value].flatten(1).first.is_a?(Symbol)
      end)
      ID = Type.new("a String that names the servers of remote:, such as \"cache servers 1\"",
                    ->(value) { value.nil? || (value.is_a?(String) && !value.strip.empty?) })
      LOCK = length("seconds as a positive number, at most #{Larder::Options::LONGEST_LOCK_TIMEOUT}",
                    POSITIVE..Larder::Options::LONGEST_LOCK_TIMEOUT)
      LOCAL_LIFE = length("seconds as a positive number or duration, at most #{Larder::Cache::MAX_TTL}",
                          POSITIVE..Larder::Cache::MAX_TTL)

      # Name, places, the type in the constructor, the type in calls. The class that uses a value of type ANY checks it.
      TABLE = [
        [:persistent, STORE, SWITCH],
        [:size, STORE, ANY],
        [:max_size, STORE, ANY],
        [:lock_timeout, STORE, LOCK],
        [:raise_errors, STORE, SWITCH],
        [:error_handler, STORE, HANDLER],
        [:max_key_size, STORE, KEY_LIMIT],
        [:serializer, STORE, SERIALIZER],
        [:compressor, STORE, COMPRESSOR],
        [:coder, STORE, CODER],
        [:remote, STORE, REMOTE],
        [:remote_id, STORE, ID],
        [:local_expires_in, STORE, LOCAL_LIFE],
        [:backplane, STORE, ANY],
        [:sign_with, STORE, ANY],
        [:expires_in, BOTH, SECONDS, LIFE],
        [:expire_in, BOTH, SECONDS, LIFE],
        [:expired_in, BOTH, SECONDS, LIFE],
        [:race_condition_ttl, BOTH, SECONDS, RACE],
        [:namespace, BOTH, PREFIX, ANY],
        [:compress, BOTH, SWITCH, ANY],
        [:compress_threshold, BOTH, BYTES, BYTES],
        [:skip_nil, BOTH, SWITCH, ANY],
        [:force, BOTH, SWITCH, ANY],
        [:raw, BOTH, SWITCH, ANY],
        [:single_flight, BOTH, SWITCH, SWITCH],
        [:wait, BOTH, length_from(0), length_from(0)],
        [:lease, BOTH, length_from(SHORTEST), length_from(SHORTEST)],
        [:stale_while_revalidate, BOTH, length_from(SHORTEST), length_from(SHORTEST)],
        [:stale_if_error, BOTH, length_from(SHORTEST), length_from(SHORTEST)],
        [:soft_timeout, BOTH, length_from(SHORTEST), length_from(SHORTEST)],
        [:early_refresh, BOTH, SWITCH, SWITCH],
        [:tags, BOTH, TAGS, ANY],
        [:jitter, BOTH, PART, PART],
        [:version, BOTH, ANY, ANY],
        [:unless_exist, BOTH, SWITCH, ANY],
        [:expires_at, CALL, nil, MOMENT],
        [:kept, CALL, nil, ANY]
      ].to_h { |name, *rest| [name, Option.new(name, *rest).freeze] }.freeze
      ALIASES = ActiveSupport::Cache::OPTION_ALIASES.values.flatten.freeze
      # Place => name => Type.
      TYPES = BOTH.to_h do |place|
        [place, TABLE.each_value.select { |option| option.places.include?(place) }.to_h do |option|
          [option.name, option[place]]
        end.freeze]
      end.freeze
      # Options that only Larder's sessions use.
      INTERNAL = %i[kept].freeze
      private_constant :BOTH, :STORE, :CALL, :POSITIVE, :SHORTEST, :SHORTEST_MAX_KEY, :ANY, :SWITCH, :SECONDS,
                       :LIFE, :RACE, :MOMENT, :BYTES, :PREFIX, :PART, :TAGS, :KEY_LIMIT, :HANDLER, :CODER, :SERIALIZER,
                       :COMPRESSOR, :REMOTE, :ID, :LOCK, :LOCAL_LIFE, :ALIASES, :TYPES, :INTERNAL

      class << self
        # Checks the types of known options.
        #
        # @param options [Hash]
        # @param place [Symbol] :store or :call
        # @yieldparam name [Object] of an option that has no effect there
        # @raise [ArgumentError] names the option, its value and what it takes
        def check(options, place)
          types = TYPES[place]
          options.each do |name, value|
            type = types[name]
            next yield(name) unless type

            refuse(name, value, type) unless type.test.call(value)
          end
        end

        # @return [Array<Symbol>] options that have an effect there
        def names(place)
          TYPES.fetch(place).keys - INTERNAL
        end

        private

        def refuse(name, value, type)
          raise ::ArgumentError, "#{name.inspect} of LarderStore is #{Addresses.show(value)}; it takes #{type.words}"
        end
      end

      private

      # Store's, of checked options.
      def merged_options(call_options)
        check_call(call_options) if call_options
        super
      end

      def check_call(options)
        unless options.is_a?(Hash)
          raise ::ArgumentError, "options of LarderStore are #{options.inspect}; they are a Hash, as expires_in: 60"
        end

        Options.check(without_unused(options), :call) do |name|
          UnknownOptions.report(name, :call) unless merged?(options)
        end
      end

      # Rails takes the first alias if there is no :expires_in, and ignores the values of the others.
      def without_unused(options)
        return options unless options.key?(:expire_in) || options.key?(:expired_in)

        given = ALIASES.find { |name| options.key?(name) }
        options[:expires_in] ? options.except(*ALIASES) : options.except(:expires_in, *ALIASES.without(given))
      end

      # True if the options are a result of merged_options, which Rails passes to it again.
      def merged?(options)
        @options.all? { |name, _| options.key?(name) }
      end
    end
  end
end
