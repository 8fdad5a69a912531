# frozen_string_literal: true

# Dictionaries that processes share through the cache itself, and replace without a restart.
#
#   "larder:dictionary:NAME"      the id of the current dictionary
#   "larder:dictionary:NAME:ID"   its bytes; older ones stay, because values that they compressed need them
#
# Both are frames with a checksum or a signature, because whoever can change a dictionary can change every value that it
# compressed. If the cache evicts a dictionary, a process that still uses it stores it again. A value whose dictionary
# cannot be read is a miss.

require "larder/bytes/monotonic_clock"
require "larder/codecs/dictionary"

module Larder
  # Given to a compressor in place of one dictionary: `Larder::Compressors::Zstd.new(dictionary: dictionaries)`.
  class Dictionaries
    include MonotonicClock

    # Seconds until a new dictionary of another process is noticed, at most.
    REFRESH = 60
    # The id of the frames; no serializer has it.
    FRAME = Codecs::Frame::DICTIONARY
    private_constant :FRAME

    # @return [String]
    attr_reader :name

    # @param name [String] of the kind of values
    # @param refresh [Numeric] seconds
    # @param sign_with [String, Array<String>, nil] secrets, as of Larder::Serializers; needed if others can write to
    #   the store
    # @yieldreturn [ActiveSupport::Cache::Store, Larder::Cache] called when the store is needed, because the store's
    #   compressor may use these dictionaries
    # @example
    #   products = Larder::Dictionaries.new("products") { Rails.cache }
    #   products.train(Product.first(500).map(&:to_json))
    def initialize(name, refresh: REFRESH, sign_with: nil, &store)
      raise ::ArgumentError, "Larder::Dictionaries.new takes a block that answers the cache" unless store

      @name = name
      @refresh = refresh
      @store = store
      @signature = Codecs::Signature.new(sign_with) if sign_with
      @known = {}
      @missing = {}
      @looked_at = nil
      @current = nil
    end

    # Trains a dictionary with samples; the compressor uses it from now on.
    #
    # @param samples [Enumerable<String>]
    # @param options [Hash] of Larder::Dictionary.train
    # @return [Larder::Dictionary]
    def train(samples, **options)
      use(Dictionary.train(samples, **options))
    end

    # @param dictionary [Larder::Dictionary] to compress with from now on
    # @return [Larder::Dictionary]
    def use(dictionary)
      publish(dictionary)
      remember(dictionary)
      @looked_at = monotonic_now
      @current = dictionary
    end

    # @return [Larder::Dictionary, nil] the one to compress with
    def current
      return @current if @looked_at && monotonic_now - @looked_at < @refresh

      @looked_at = monotonic_now
      id = read(key).to_i
      chosen = id.zero? ? @current : find(id)
      # If the cache has evicted the id or the bytes, store them again; new processes need them.
      publish(chosen) if chosen && (id.zero? || !read("#{key}:#{id}"))
      @current = chosen
    end

    # @param id [Integer] in a compressed value
    # @return [Larder::Dictionary, nil]
    def find(id)
      @known[id] || (look_for(id) unless @missing[id] && monotonic_now - @missing[id] < @refresh)
    end

    # @return [String]
    def inspect
      "#<#{self.class} #{@name}>"
    end
    alias to_s inspect

    private

    def look_for(id)
      bytes = read("#{key}:#{id}")
      dictionary = Dictionary.new(bytes) if bytes && Dictionary.valid?(bytes)
      return remember(dictionary) if dictionary && dictionary.id == id

      @missing = @missing.size < 100 ? @missing.merge(id => monotonic_now) : { id => monotonic_now }
      nil
    end

    def remember(dictionary)
      @known = @known.merge(dictionary.id => dictionary)
      dictionary
    end

    def publish(dictionary)
      write("#{key}:#{dictionary.id}", dictionary.bytes)
      write(key, dictionary.id.to_s)
    end

    def key
      "larder:dictionary:#{@name}"
    end

    # Reads and writes without compression: a dictionary that needs itself could not be read.
    def write(key, bytes)
      store = @store.call
      frame = Codecs::Frame.value(FRAME, bytes, signature: @signature)
      store.respond_to?(:set) ? store.set(key, frame) : store.write(key, frame, compress: false, expires_in: nil)
    end

    # @return [String, nil]
    def read(key)
      store = @store.call
      frame = store.respond_to?(:get) ? store.get(key) : store.read(key)
      opened(frame) if frame
    rescue ActiveSupport::Cache::DeserializationError # was reported, and is no dictionary
      nil
    end

    def opened(frame)
      Codecs::Reading.guard(self, frame.to_s.bytesize) do
        frame = frame.to_s.b
        raise UnreadableError, "foreign (no dictionary)" unless Codecs::Frame.value?(frame)

        id, bytes = Codecs::Frame.open_value(frame, signature: @signature)
        id == FRAME ? bytes : raise(UnreadableError, "foreign (a value that is no dictionary)")
      end
    end
  end
end
