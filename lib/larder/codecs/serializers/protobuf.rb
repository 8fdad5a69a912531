# frozen_string_literal: true

# Protocol Buffers with the gem google-protobuf. The format: two bytes (is it a list, are its items Hashes), then
# messages of one class, each after its length as LEB128, which Protobuf's libraries call delimited messages.

module Larder
  module Serializers
    # The smallest without compression. Needs the class of the messages, and refuses a value that would come back as
    # another one.
    class Protobuf
      RUNS_CODE = false
      MAKES_OBJECTS = false

      # An empty message is a byte, and takes about a kilobyte of memory when it is read.
      MAX_ITEMS = 100_000
      # For longer messages, the limit on bytes is enough.
      BYTES_PER_ITEM = 64
      ERRORS = [::ArgumentError, ::RangeError, ::TypeError, ::EncodingError, ::RuntimeError].freeze
      private_constant :BYTES_PER_ITEM, :ERRORS

      # @param schema [Class] of messages
      # @param max_items [Integer] messages of one value, to which comes one for each 64 bytes that it has
      # @param max_depth [Integer]
      # @raise [ArgumentError]
      def initialize(schema: nil, max_items: MAX_ITEMS, max_depth: 100)
        Codecs::OptionalGems.need("google/protobuf", gem: "google-protobuf", who: "serializer :protobuf")
        unless schema.respond_to?(:descriptor)
          raise ::ArgumentError, "serializer :protobuf needs schema: a message class of google-protobuf, " \
                                 "got #{schema.inspect}"
        end

        @schema = schema
        @max_items = Codecs::Options.range(max_items, 1..(1 << 31), "max_items: of serializer :protobuf")
        @max_depth = max_depth
        @fields = {}
      end

      # @param value [Object, Array<Object>] a message, or a Hash of all its fields by their names, nil where there is
      #   nothing; or a list of the one or the other. Messages within a Hash are such Hashes, too.
      # @return [String]
      # @raise [Larder::UnserializableError]
      def dump(value)
        list = value.instance_of?(Array)
        items = list ? value : [value]
        hashes = items.first.is_a?(Hash)
        out = String.new(encoding: Encoding::BINARY)
        out << (list ? 1 : 0) << (hashes ? 1 : 0)
        items.each do |item|
          bytes = encoded(hashes ? message_of(item) : message(item))
          out << Codecs::Frame.leb128(bytes.bytesize) << bytes
        end
        items.size > most(out) ? refuse_many(items) : out
      end

      # @return [Object] as it was given: a message or Hash, or a list
      # @raise [Larder::UnreadableError]
      def load(payload)
        raise UnreadableError, "truncated" if payload.bytesize < 2

        allowed = Allowance.new(most(payload))
        places = places_of(payload, 2, allowed)
        items = places.map { |at, size| @schema.decode(payload.byteslice(at, size), recursion_limit: @max_depth) }
        items.map! { |message| hash_of(message, allowed) } if payload.getbyte(1) == 1
        return items if payload.getbyte(0) == 1
        raise UnreadableError, "damaged (not one message)" unless items.size == 1

        items.first
      end

      # Limits how many messages are made.
      # @api private
      class Allowance
        def initialize(most)
          @most = most
          @left = most
        end

        def spend
          @left -= 1
          raise UnreadableError, "too large (more than #{@most} messages)" if @left.negative?
        end
      end
      private_constant :Allowance

      private

      # ---- writing ----

      def message(item)
        item.instance_of?(@schema) ? item : refuse_kind(item)
      end

      def encoded(message)
        @schema.encode(message, recursion_limit: @max_depth)
      rescue *ERRORS => e
        raise unless OwnFailure.again?(e) { @schema.encode(message, recursion_limit: @max_depth) }

        refuse(e.message)
      end

      def message_of(hash)
        refuse_kind(hash) unless plain?(hash)
        strange = hash.each_key.find { |key| !key.instance_of?(String) }
        refuse("names of fields are Strings, and #{strange.inspect} is none") if strange

        made = made_of(hash)
        hash_of(made).each_pair { |name, value| check(hash, name, value) }
        made
      end

      def plain?(hash)
        hash.instance_of?(Hash) && hash.default.nil? && hash.default_proc.nil?
      end

      def made_of(hash)
        @schema.new(compact(hash))
      rescue *ERRORS => e
        raise unless OwnFailure.again?(e) { @schema.new(compact(hash)) }

        refuse(e.message)
      end

      # Without nil, which would become a zero in a Hash within a Hash.
      def compact(value)
        case value
        when Hash then value.compact.transform_values { |inner| compact(inner) }
        when Array then value.map { |inner| compact(inner) }
        else value
        end
      end

      # Protobuf accepts values that it does not return: a Symbol for a String, a Time for a Timestamp, no value for
      # zero.
      def check(hash, name, value)
        refuse("a Hash has all fields, nil where there is nothing, and this one lacks #{name}") unless hash.key?(name)
        return if same?(hash[name], value)

        given, back = [hash[name], value].map { |each| UnserializableError.kind_of(each) }
        refuse("#{name}, which is #{given}, would come back as #{given == back ? "another one" : back}")
      end

      def same?(given, back)
        case back
        when String then given.instance_of?(String) && given == back
        when Float then given.is_a?(Numeric) && (given == back || (back.nan? && given.is_a?(Float) && given.nan?))
        when Array
          given.instance_of?(Array) && given.size == back.size && given.zip(back).all? { |mine, its| same?(mine, its) }
        when Hash
          plain?(given) && given.size == back.size && back.all? { |key, b| given.key?(key) && same?(given[key], b) }
        else given.instance_of?(back.class) && given == back
        end
      end

      def refuse_kind(item)
        refuse("it stores #{@schema} or a Hash of its fields, in a list either the one or the other, not #{item.class}")
      end

      def refuse(why)
        raise UnserializableError, "protobuf cannot bring it back as #{@schema}: #{why}; :native, :message_pack and " \
                                   ":marshal can bring back more"
      end

      def refuse_many(items)
        raise UnserializableError, "protobuf would not read #{items.size} messages of so few bytes again; raise " \
                                   "max_items: (#{@max_items})"
      end

      # ---- reading ----

      def most(bytes)
        @max_items + (bytes.bytesize / BYTES_PER_ITEM)
      end

      # Checks all lengths before a message is made.
      def places_of(payload, at, allowed)
        places = []
        while at < payload.bytesize
          size, at = Codecs::Frame.size_at(payload, at)
          raise UnreadableError, "truncated" if size > payload.bytesize - at

          allowed.spend
          places << [at, size]
          at += size
        end
        places
      end

      # A field that was not set is nil if the schema says optional, else the zero of its type.
      def hash_of(message, allowed = nil)
        fields_of(message.class.descriptor).to_h do |name, field, optional|
          [name, optional && !field.has?(message) ? nil : plain(field.get(message), allowed)]
        end
      end

      def fields_of(descriptor)
        @fields[descriptor] || begin
          fields = descriptor.map { |field| [field.name, field, field.has_presence?] }
          @fields = @fields.merge(descriptor => fields)
          fields
        end
      end

      def plain(value, allowed)
        case value
        when Google::Protobuf::RepeatedField then value.map { |inner| plain(inner, allowed) }
        when Google::Protobuf::Map then value.keys.to_h { |key| [key, plain(value[key], allowed)] }
        when Google::Protobuf::MessageExts
          allowed&.spend
          hash_of(value, allowed)
        else value
        end
      end
    end
  end
end
