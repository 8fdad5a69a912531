# frozen_string_literal: true

# What a store gets as its `serializer:`: frames around one codec's bytes, signatures, and the reading of what other
# codecs, or Rails itself, wrote.

module Larder
  # See Larder::Serializers.
  class Serializer
    # Bytes of a value: the longest that Larder's file takes.
    MAX_BYTES = 64 << 20
    # The same where strangers can write: some hundred bytes of memory may become of each.
    STRANGERS_MAX_BYTES = 16 << 20

    # Lists in lists in lists.
    MAX_DEPTH = 100

    # @return [Symbol]
    attr_reader :name

    # @return [Codecs::Signature, nil]
    attr_reader :signature

    # @param name [Symbol, String]
    # @param sign_with [String, Array<String>] secrets: what is written is signed with the first, and nothing is read
    #   that none of them signed
    # @param trusted [Boolean] nobody but this application can write to the store, so its bytes may go to Marshal; that
    #   is so of Larder's own file and of memory, and not of a server on a network
    # @param reads [Array<Symbol>] serializers that make objects of classes, as native and message_pack do, whose bytes
    #   are read beside this one's; those that make plain data are always read
    # @param checksum [Boolean] put one before what is written, and refuse what has none; false where the store has its
    #   own, as Larder's; a signature is one, too
    # @param max_bytes [Integer] longer payloads are neither written nor read
    # @param options [Hash] of the codec; `max_depth:` of those that have it
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

    # @return [Boolean] may its bytes make whatever they ask for?
    def trusted?
      @trusted || !@signature.nil?
    end

    # @param value [Object]
    # @return [String] a frame, binary
    # @raise [Larder::UnserializableError] the codec could not bring it back
    def dump(value)
      id, payload = Cacheable.used? ? as_declared(value) : [@id, @codec.dump(value)]
      if payload.bytesize > @max_bytes
        raise UnserializableError, "#{payload.bytesize} bytes are more than #{self} reads again; raise max_bytes: " \
                                   "(#{@max_bytes})"
      end

      Codecs::Frame.value(id, payload, checksum: @checksum, signature: @signature)
    end

    # @param bytes [String] of this serializer, of another one, or of Rails' own
    # @return [Object] the value
    # @raise [ActiveSupport::Cache::DeserializationError] which stores take for a miss
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

    # Limits go to other codecs, too, whose bytes are read.
    def build(codec, options)
      @limits = { trusted: trusted?, max_depth: options.fetch(:max_depth, MAX_DEPTH) }
      Codecs::Options.range(@limits[:max_depth], 1..10_000, "max_depth: of #{self}")
      @codec = Codecs::Options.build(codec, "serializer #{@name.inspect}", options, @limits)
      @codecs = { @id => @codec }
    end

    def may_run?(codec)
      trusted? || !codec::RUNS_CODE
    end

    # Plain data is nothing to be afraid of; objects are made by those codecs alone that somebody chose.
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

    # Objects whose class says how, wherever they stand; the rest by the codec.
    def as_declared(value)
      found = Cacheable.of(value) || Cacheable::Promise.dump(@name, @codec, value)
      found.is_a?(String) ? [@id, found] : [Serializers::TYPED, typed.dump(found, value)]
    end

    # Of objects whose class says how.
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
        raise e.cause || e # Rails takes every ArgumentError for one of Marshal's
      end
    end
  end
end
