# frozen_string_literal: true

# The values that options of the store take.

require "active_support/duration"
require "larder/bytes/options"
require "larder/bytes/tagging"

module Larder
  module Store
    module Options
      # A type of options: `words` for a message, `values` for the document, and the tests of a value in the constructor
      # and in a call.
      Type = Struct.new(:words, :values, :store, :call)
      private_constant :Type

      # The types of the table. The constructor is strict. A call accepts every value that Rails' stores accept there,
      # because its code may be used with several stores: any object is true or false, any object with to_s is a
      # namespace. The class that uses a value of type ANY checks it.
      # @api private
      module Types
        # @param value [Object]
        # @return [Boolean] true if it is a length of time in seconds; NaN is not
        def self.seconds?(value)
          number?(value.is_a?(ActiveSupport::Duration) ? value.value : value)
        end

        # @return [Boolean] true if it is a real number
        def self.number?(value)
          value.is_a?(Integer) || (value.is_a?(Numeric) && value.real? && !(value.respond_to?(:nan?) && value.nan?))
        end

        # @return [Boolean] true if it names a codec, or is left out
        def self.name?(value)
          value.nil? || value.is_a?(Symbol) || value.is_a?(String)
        end

        # @return [Boolean] true if these are tags
        def self.tags?(value)
          Tagging.texts(value || nil) && true
        rescue ::ArgumentError
          false
        end

        # @param values [String] for the document
        # @param words [String] for a message
        # @param call [Proc] the test in calls, if it is another
        # @return [Type]
        def self.type(values, words: values, call: nil, &test)
          Type.new(words, values, test, call || test).freeze
        end

        # @param range [Range] of seconds
        # @return [Type] of lengths in the range
        def self.length(values, words, range)
          type(values, words: words) { |value| value.nil? || (seconds?(value) && range.cover?(value.to_f)) }
        end

        # @return [Type] of lengths from `least` seconds on
        def self.length_from(least, values)
          most = Larder::Cache::MAX_TTL
          length(values, "seconds as a number or duration, from #{least} to #{most}", least..most)
        end

        POSITIVE = 0.0.next_float
        # Seconds that a block, or what replaces its value, takes at least.
        SHORTEST = 0.001
        # Shortest :max_key_size: one byte and the digest's suffix.
        SHORTEST_MAX_KEY = 1 + ":hash:".bytesize + 32
        SECONDS_IN_WORDS = "seconds as a number or duration"
        ALWAYS = ->(_) { true }
        # In calls. Rails itself refuses a Time, and names expires_at.
        LIFE_OF_CALL = ->(value) { value.nil? || seconds?(value) || value.is_a?(Time) }
        # In calls. Rails' stores call to_i.
        RACE_OF_CALL = lambda do |value|
          !(value.respond_to?(:nan?) && value.nan?) && value.respond_to?(:to_i) && value.respond_to?(:to_f)
        end
        SECONDS = ->(value) { value.nil? || seconds?(value) }
        private_constant :POSITIVE, :SHORTEST, :SHORTEST_MAX_KEY, :SECONDS_IN_WORDS, :ALWAYS, :LIFE_OF_CALL,
                         :RACE_OF_CALL, :SECONDS

        ANY = type("anything", &ALWAYS)
        SWITCH = type("true, false", words: "true or false") { |value| [true, false, nil].include?(value) }
        RAILS_SWITCH = type("true, false", words: SWITCH.words, call: ALWAYS, &SWITCH.store)
        LIFE = type("seconds, Duration, nil", words: SECONDS_IN_WORDS, call: LIFE_OF_CALL, &SECONDS)
        SAME_LIFE = type("as `expires_in:`", words: SECONDS_IN_WORDS, call: LIFE_OF_CALL, &SECONDS)
        RACE = type("seconds, Duration, nil", words: SECONDS_IN_WORDS, call: RACE_OF_CALL, &SECONDS)
        MOMENT = type("Time", words: "a Time, as of 5.minutes.from_now") do |value|
          !value || value.is_a?(Time) || value.is_a?(DateTime)
        end
        WAIT = length_from(0, "seconds, Duration")
        TIME = length_from(SHORTEST, "seconds, Duration, at least #{SHORTEST}")
        LOCK = length("seconds, more than 0, at most 3,600",
                      "seconds as a positive number, at most #{Larder::Options::LONGEST_LOCK_TIMEOUT}",
                      POSITIVE..Larder::Options::LONGEST_LOCK_TIMEOUT)
        LOCAL_LIFE = length("seconds, Duration, more than 0, up to 69 years",
                            "seconds as a positive number or duration, at most #{Larder::Cache::MAX_TTL}",
                            POSITIVE..Larder::Cache::MAX_TTL)
        PART = type("0 to 1", words: "a part of the time, from 0 to 1") do |value|
          value.nil? || (number?(value) && (0..1).cover?(value))
        end
        SIZE = type("Integer, as of `1.gigabyte`, or a String such as `\"1GB\"`; 1 MiB to 1 TiB", &ALWAYS)
        SAME_SIZE = type("as `size:`", &ALWAYS)
        BYTES = type("bytes", words: "bytes as a number") { |value| !value || number?(value) }
        KEY_LIMIT = type("bytes from #{SHORTEST_MAX_KEY} on, or false",
                         words: "bytes as an Integer from #{SHORTEST_MAX_KEY} on, or false") do |value|
          !value || (value.is_a?(Integer) && value >= SHORTEST_MAX_KEY)
        end
        PREFIX = type("String, Symbol, object that answers `call`, nil", call: ALWAYS,
                      words: "a String, a Symbol, something that can be called, or nil") do |value|
          !value || value.is_a?(String) || value.is_a?(Symbol) || value.respond_to?(:call)
        end
        KEYSPACES = type("Array of up to 32 Strings of 1 to 63 bytes") do |value|
          value.nil? || (value.is_a?(Array) && value.size <= 32 &&
            value.all? { |text| text.is_a?(String) && text.bytesize.between?(1, 63) && !text.include?("\0") })
        end
        TAGS = type("String, Symbol, Integer, record, model, or an Array of these; up to 128", call: ALWAYS,
                    words: "Strings, Symbols, Integers, records and their classes, or an Array of these") do |value|
          tags?(value)
        end
        LABEL = type("an object that answers `to_param`", &ALWAYS)
        HANDLER = type("an object that answers `call`, or nil",
                       words: "something that can be called, or nil") do |value|
          value.nil? || value.respond_to?(:call)
        end
        # Settings looks the names up.
        SERIALIZER = type("`:marshal`, `:json`, `:active_support_json`, `:message_pack`, `:xml`, `:native`, " \
                          "Rails' names, or an object that answers `dump` and `load`, such as " \
                          "`Larder::Serializers[:protobuf, schema: Message]`",
                          words: "a name, or an object with dump and load") do |value|
          name?(value) || (value.respond_to?(:dump) && value.respond_to?(:load))
        end
        COMPRESSOR = type("`:gzip`, `:brotli`, `:zstd`, `:snappy`, `:lz4`, `:lz4_flex`, or an object that answers " \
                          "`deflate` and `inflate`", words: "a name, or an object with deflate and inflate") do |value|
          name?(value) || (value.respond_to?(:deflate) && value.respond_to?(:inflate))
        end
        CODER = type("an object that answers `dump` and `load`",
                     words: "an object with dump and load, whose dump makes a String of an entry; leave it out for " \
                            "Larder's own") { |value| value.respond_to?(:dump) && value.respond_to?(:load) }
        REMOTE = type("a store, or the arguments of `config.cache_store`, as `[:redis_cache_store, { url: … }]`",
                      words: "a store, or what config.cache_store takes: [:redis_cache_store, { url: … }]") do |value|
          value.nil? || value.is_a?(ActiveSupport::Cache::Store) || [value].flatten(1).first.is_a?(Symbol)
        end
        ID = type("a String that is not blank",
                  words: "a String that names the servers of remote:, such as \"cache servers 1\"") do |value|
          value.nil? || (value.is_a?(String) && !value.strip.empty?)
        end
        BACKPLANE = type("the URL of a Redis, Valkey or PostgreSQL, a Hash as `RedisClient.config`, " \
                         "`RedisClient.sentinel` or `PG.connect` takes, or an Array of those of a cluster's nodes",
                         &ALWAYS)
        SECRETS = type("String of 16 bytes or more, or an Array of these", &ALWAYS)
      end
    end
  end
end
