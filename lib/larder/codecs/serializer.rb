# frozen_string_literal: true

# What a store gets as its `serializer:`: puts a codec's bytes into frames, signs them, and reads what other codecs or
# Rails wrote.

module Larder
  # See Larder::Serializers.
  class Serializer
    # Bytes of the longest value that Larder's file takes.
    MAX_BYTES = 64 << 20
    # The same if others can write to the store: reading one byte may take some hundred bytes of memory.
    STRANGERS_MAX_BYTES = 16 << 20

    # The most levels of nesting.
    MAX_DEPTH = 100

    # @return [Symbol]
    attr_reader :name

    # @return [Codecs::Signature, nil]
    attr_reader :signature

    # @param name [Symbol, String]
    # @param sign_with [String, Array<String>] secrets: the first one signs what is written; bytes that none of them
    #   signed are not read
    # @param trusted [Boolean] only this application can write to the store, so Marshal may read its bytes; true of
    #   Larder's own file and of memory, not of a server on a network
    # @param reads [Array<Symbol>] other serializers that make objects, such as native and message_pack, whose bytes
    #   are read, too; serializers that make only plain data are always read
    # @param checksum [Boolean] write one, and refuse bytes without one; false if the store has its own, as Larder's
    #   has; a signature also counts as one
    # @param max_bytes [Integer] longer payloads are neither written nor read
    # @param options [Hash] of the codec, such as `max_depth:`
    # @raise [ArgumentError] see Serializers.[]
    def initialize(name, sign_with: NONE, trusted: false, reads: [], checksum: true, max_bytes: nil, **options)
      codec = Serializers::REGISTRY.find(name)
      @name = name.to_sym
      @id = Serializers::REGISTRY.id_of(@name)
      @signature = Codecs::Signature.new(sign_with) unless sign_with.equal?(NONE)
      @trusted = trusted
      @reads = Array(reads).map { |other| Serializers::REGISTRY.find(other) } << codec
      @checksum = checksum
      @max_bytes = Codecs::Options.range(max_bytes || (trusted? ? MAX_BYTES : STRANGERS_MAX_BYTES), 1..(1 << 40),
                                         "max_bytes: of #{self}")
      refuse(codec) unless may_run?(codec)
      build(codec, options)
    end

    # @return [Boolean] may its bytes make objects of any class?
    def trusted?
      @trusted || !@signature.nil?
    end

    # @param value [Object]
    # @return [String] a frame, binary
    # @raise [Larder::UnserializableError] the codec could not read it back as it is
    def dump(value)
      id, payload = encoded(value)
      if payload.bytesize > @max_bytes
        raise UnserializableError, "#{payload.bytesize} bytes are more than #{self} reads again; raise max_bytes: " \
                                   "(#{@max_bytes})"
      end

      Codecs::Frame.value(id, payload, checksum: @checksum, signature: @signature)
    end

    # @param bytes [String] of this serializer, of another one, or of Rails' own
    # @return [Object] the value
    # @raise [ActiveSupport::Cache::DeserializationError] which stores treat as a miss
    def load(bytes)
      Codecs::Reading.guard(self, bytes.bytesize) do
        raise UnreadableError, "too large (#{bytes.bytesize} bytes, max_bytes: is #{@max_bytes})" if too_large?(bytes)

        bytes = bytes.b unless bytes.encoding == Encoding::BINARY # clients of servers give text its encoding
        Codecs::Frame.value?(bytes) ? open_frame(bytes) : foreign(bytes)
      end
    end

    # @return [Larder::Serializer] the same for frames within a signed one, see Larder::Coder
    # @api private
    def enclosed
      dup.enclose
    end

    # @return [String]
    def to_s
      "Larder::Serializers[#{@name.inspect}]"
    end
    alias inspect to_s

    NONE = Object.new.freeze
    private_constant :NONE

    protected

    def enclose
      @signature = @typed = nil
      @checksum = false
      @trusted = true
      self
    end

    private

    # The limits also apply to other codecs whose bytes are read.
    def build(codec, options)
      @limits = { trusted: trusted?, max_depth: options.fetch(:max_depth, MAX_DEPTH) }
      Codecs::Options.range(@limits[:max_depth], 1..10_000, "max_depth: of #{self}")
      @codec = Codecs::Options.build(codec, "serializer #{@name.inspect}", options, @limits)
      @codecs = { @id => @codec }
    end

    # @return [Array(Integer, String)] the id of a serializer, and its bytes
    def encoded(value)
      Cacheable.used? ? as_declared(value) : [@id, @codec.dump(value)]
    end

    def may_run?(codec)
      trusted? || !codec::RUNS_CODE
    end

    # Plain data is safe. Objects are made only by codecs that the application chose.
    def may_read?(codec)
      trusted? || (!codec::RUNS_CODE && (!codec::MAKES_OBJECTS || @reads.include?(codec)))
    end

    def refuse(codec)
      raise ::ArgumentError, "#{codec.name.split("::").last} makes whatever object its bytes ask for, so whoever can " \
                             "write to the store can run code here. For a store shared over a network give " \
                             "sign_with: a secret; where nobody else can write (memory, files of your own) say " \
                             "trusted: true"
    end

    def too_large?(bytes)
      bytes.bytesize > @max_bytes + Codecs::Frame::SIGNATURE_BYTES + 2
    end

    def open_frame(bytes)
      id, payload = Codecs::Frame.open_value(bytes, checksum: @checksum, signature: @signature)
      (id == Serializers::TYPED ? typed : codec_with(id)).load(payload)
    end

    # Objects with a declaration as their class declares, wherever they are in the value; all else by the codec.
    def as_declared(value)
      found = Cacheable.of(value) || Cacheable::Promise.dump(@name, @codec, value)
      found.is_a?(String) ? [@id, found] : [Serializers::TYPED, typed.dump(found, value)]
    end

    # The frame of objects with a declaration.
    def typed
      @typed ||= Cacheable::Frame.new(max_bytes: @max_bytes, loads: trusted?) { |codec| may_run?(codec) }
    end

    def codec_with(id)
      @codecs[id] || begin
        codec = Serializers::REGISTRY.with_id(id) or raise UnreadableError, "unknown serializer (#{id})"
        unless may_read?(codec)
          raise UnreadableError, "untrusted (bytes of #{codec.name}; reads: names serializers that may be read)"
        end

        @codecs = @codecs.merge(id => Codecs::Options.build(codec, "serializer #{id}", {}, @limits))
        @codecs[id]
      end
    end

    # What Rails' own serializers wrote, before this one was configured.
    def foreign(bytes)
      raise UnreadableError, "unsigned" if @signature
      return codec_with(Serializers::REGISTRY.id_of(:message_pack)).load(bytes) if bytes.start_with?("\xCC\x80".b)

      rails = bytes.match?(/\A(?:\x04\x08|[\x00\x01])/n)
      raise UnreadableError, "foreign (#{bytes.byteslice(0, 4).inspect})" unless rails
      raise UnreadableError, "untrusted (bytes of Rails' Marshal)" unless @trusted

      begin
        ActiveSupport::Cache::SerializerWithFallback[:marshal_7_1].load(bytes) # rubocop:disable Naming/VariableNumber
      rescue ActiveSupport::Cache::DeserializationError => e
        raise e.cause || e # Rails treats every ArgumentError as one of Marshal's
      end
    end
  end
end
