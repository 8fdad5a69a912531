# frozen_string_literal: true

# The bytes of objects of declared classes: the class, the version of its declaration, the codecs, the fields.
#
#   kind: 0 an object, 1 an Array, 2 a Hash | version, LEB128 | classes: count, then length and bytes of each name
#   | objects: count; with more than one class, for each a byte: which | new records: count, then the place of each
#   | fields with types: twice their count, and one where a schema was given, then four bytes of each, and of the schema
#   | of a Hash: length and bytes of its keys, by :native | length and bytes of objects kept of rows, if there are such
#   | serializer's id | compressor's id, or 0 | of compressed rows, the size before, LEB128 | rows
#
# Rows are the serializer's bytes of [row, row, …].
#
#   kind: 3 a container of objects | length, and its :native bytes with numbers for objects | objects kept
#
# Objects kept (see Mixture): count of groups | of each, length and bytes of its objects, as an Array of kind 1. If rows
# have such objects, :native writes the rows.

module Larder
  module Cacheable
    # Writes and reads them, for Larder::Serializer.
    class Frame
      OBJECT = 0
      LIST = 1
      HASH = 2
      MIXTURE = 3
      MOST_TYPES = 255
      MOST_COUNT = 1 << 32
      private_constant :MOST_TYPES, :MOST_COUNT

      # @param max_bytes [Integer] of rows when they are decompressed
      # @param loads [Boolean] may files be loaded for classes that are named in the bytes?
      # @param trusted [#call] is asked whether a serializer's class may be used
      def initialize(max_bytes:, loads: false, &trusted)
        @max_bytes = max_bytes
        @loads = loads
        @trusted = trusted
        @native = Serializers::Native.new(trusted: loads)
      end

      # @param declaration [Declaration, Mixture] what Cacheable.of says of the value
      # @param value [Object] an object, an Array or a Hash
      # @return [String] binary
      # @raise [Larder::UnserializableError]
      def dump(declaration, value)
        out = String.new(encoding: Encoding::BINARY)
        if declaration.is_a?(Mixture)
          put_string(out << MIXTURE, declaration.bytes)
          return out << kept(declaration, [])
        end

        case value
        when Array then put_objects(out << LIST, declaration, value)
        when Hash then put_objects(out << HASH, declaration, value.values, value.keys)
        else put_objects(out << OBJECT, declaration, [value])
        end
      end

      # @return [Object]
      # @raise [Larder::UnreadableError]
      def load(payload)
        take_any(Input.new(payload, max_bytes: @max_bytes))
      end

      private

      def leb128(number)
        Codecs::Frame.leb128(number)
      end

      def put_objects(out, declaration, objects, keys = nil, above = [])
        check_trust(declaration)
        out << leb128(declaration.schema_version)
        put_types(out, objects)
        put_numbers(out, declaration.new_ones(objects))
        put_layout(out, declaration.layout)
        put_string(out, @native.dump(keys)) if keys
        put_rows(out, declaration, objects, above)
      end

      # Refuses bytes that this store would not read again.
      def check_trust(declaration)
        return if @trusted.call(Serializers::REGISTRY.find(declaration.serializer))

        raise UnserializableError, "#{declaration} writes by #{declaration.serializer.inspect}, which is read where " \
                                   "the store is trusted or signed, only: give its serializer sign_with: a secret, " \
                                   "or, where nobody else can write, trusted: true"
      end

      # The names of classes and, if there are several, the class of each object.
      def put_types(out, objects)
        types = objects.map(&:class).uniq
        raise UnserializableError, "more than #{MOST_TYPES} classes in one list" if types.size > MOST_TYPES

        out << leb128(types.size)
        types.each { |type| put_string(out, name_of(type)) }
        out << leb128(objects.size)
        return if types.size == 1

        index = types.each_with_index.to_h
        out << objects.map { |object| index.fetch(object.class) }.pack("C*")
      end

      def name_of(type)
        name = type.name
        return name if name&.match?(Tree::Parts::NAME)

        raise UnserializableError, "#{type.inspect} has no name to find it by again"
      end

      def put_numbers(out, numbers)
        out << leb128(numbers.size)
        numbers.each { |number| out << leb128(number) }
      end

      def put_layout(out, layout)
        out << leb128((layout.numbers.size * 2) + (layout.schema ? 1 : 0))
        out << [*layout.numbers, *layout.schema].pack("V*")
      end

      def put_string(out, text)
        out << leb128(text.bytesize) << text.b
      end

      def put_rows(out, declaration, objects, above)
        kept, serializer, bytes = bytes_of(declaration, objects, above)
        put_string(out, kept) << Serializers::REGISTRY.id_of(serializer)
        packed = compressed(declaration, bytes)
        return out << 0 << (bytes.encoding == Encoding::BINARY ? bytes : bytes.b) unless packed

        out << Compressors::REGISTRY.id_of(declaration.compressor) << leb128(bytes.bytesize) << packed
      end

      # @return [Array(String, Symbol, String)] the declared objects in rows, the serializer of rows, and its bytes
      def bytes_of(declaration, objects, above)
        rows = rows_of(declaration, declaration.rows(objects))
        return ["", declaration.serializer, rows] if rows.is_a?(String)

        [kept(rows, above + objects), :native, rows.bytes]
      end

      # @return [String, Mixture]
      def rows_of(declaration, rows)
        name = declaration.serializer
        codec = declaration.codec(name)
        declaration.mixes? ? Promise.dump(name, codec, rows) : Promise.dump_whole(codec, rows)
      rescue UnserializableError => e
        refuse(declaration, codec, rows, e)
      end

      # Names the field that the serializer does not take, if it does not take one by itself.
      def refuse(declaration, codec, rows, error)
        rows.each do |row|
          next unless row.instance_of?(Hash) && declaration.serializer != :protobuf

          row.each_pair do |name, value|
            codec.dump([value])
          rescue UnserializableError => e
            next if declaration.mixes? && Mixture.new([value]).any?

            raise UnserializableError, "#{declaration}: the field #{name}, of #{Cacheable.class_of(value)}: " \
                                       "#{e.message}"
          end
        end
        raise UnserializableError, "#{declaration}: #{error.message}"
      end

      # @param above [Array<Object>] in whose rows these are found
      def kept(mixture, above)
        known = above.to_h { |object| [object, true] }.compare_by_identity
        out = String.new(encoding: Encoding::BINARY) << leb128(mixture.groups.size)
        mixture.groups.each_pair do |declaration, objects|
          check_circle(objects, known)
          put_string(out, put_objects(String.new(encoding: Encoding::BINARY) << LIST, declaration, objects, nil, above))
        end
        out
      end

      def check_circle(objects, above)
        found = objects.find { |object| above.key?(object) } or return

        raise UnserializableError, "#{found.class} and what it holds hold each other; name the fields: to keep " \
                                   "without those, or cached_with serializer: :marshal"
      end

      def compressed(declaration, bytes)
        return unless declaration.compressor && bytes.bytesize >= declaration.compress_threshold

        packed = declaration.compressor_codec(declaration.compressor).compress(bytes)
        packed if packed.bytesize < bytes.bytesize
      end

      # ---- reading ----

      def take_any(input)
        kind = input.byte
        return take_mixture(input) if kind == MIXTURE
        raise UnreadableError, "damaged (a kind #{kind})" if kind > HASH

        take_objects(input, kind)
      end

      def take_mixture(input)
        bytes = input.string
        @native.load(bytes, take_kept(input))
      end

      # @return [Array<Array<Object>>]
      def take_kept(input)
        Array.new(input.count) do
          objects = take_any(input.within(input.string))
          objects.is_a?(Array) ? objects : raise(UnreadableError, "damaged (a group that is no list)")
        end
      end

      def take_objects(input, kind)
        version = input.number
        types = take_types(input)
        declaration = declaration_of(types, version)
        new_ones = Array.new(input.count) { input.number }
        layout = take_layout(input)
        declaration.check(layout)
        keys = @native.load(input.string) if kind == HASH
        kept = input.string
        serializer = take_serializer(input)
        bytes = take_bytes(input, declaration)
        rows = kept.empty? ? declaration.codec(serializer, layout).load(bytes) : take_rows(input.within(kept), bytes)
        raise UnreadableError, "damaged (not as many rows as objects)" unless whole?(rows, types.count, kind)

        of_kind(kind, declaration.objects(rows, types, new_ones, serializer), keys)
      end

      def take_rows(kept, bytes)
        @native.load(bytes, take_kept(kept))
      end

      def whole?(rows, count, kind)
        rows.is_a?(Array) && rows.size == count && (kind != OBJECT || count == 1)
      end

      def take_types(input)
        names = Array.new(input.count) { input.string }
        raise UnreadableError, "damaged (no class)" if names.empty? || names.size > MOST_TYPES

        types = names.map { |name| type_named(name) }
        count = input.number
        raise UnreadableError, "damaged (too many objects)" if count > MOST_COUNT

        Types.new(types, count, types.size == 1 ? nil : input.take(count))
      end

      # Only objects of declared classes are made.
      def type_named(name)
        raise UnreadableError, "damaged (no name of a class)" unless name.match?(Tree::Parts::NAME)

        type = Tree::Parts.constant(name, load: @loads) or raise UnreadableError, "no such class (#{name})"
        return type if type.is_a?(Class) && type.is_a?(ClassMethods)

        raise UnreadableError, "untrusted (#{name} does not include Larder::Cacheable)"
      rescue NameError => e
        raise unless OwnFailure.again?(e) { Tree::Parts.constant(name, load: @loads) }

        raise UnreadableError, "no such class (#{name})"
      end

      # Checks all classes, because each may have another declaration now.
      def declaration_of(types, version)
        declarations = types.all.map do |type|
          declaration = type.cache_declaration or raise UnreadableError, "undeclared (#{type})"
          next declaration if declaration.schema_version == version

          raise UnreadableError, "another schema_version (#{version} of #{type}, and now it is " \
                                 "#{declaration.schema_version})"
        end
        declarations.first
      end

      def take_layout(input)
        told = input.number
        given = told.odd?
        numbers = input.take(((told / 2) + (given ? 1 : 0)) * 4).unpack("V*")
        schema = numbers.pop if given
        Declaration::Layout.new(numbers, schema)
      end

      def take_serializer(input)
        serializer = Serializers::REGISTRY.name_of(input.byte) or raise UnreadableError, "no such serializer"
        return serializer if @trusted.call(Serializers::REGISTRY.find(serializer))

        raise UnreadableError, "untrusted (rows by #{serializer})"
      end

      def take_bytes(input, declaration)
        id = input.byte
        return input.rest if id.zero?

        compressor = Compressors::REGISTRY.name_of(id) or raise UnreadableError, "no such compressor"
        size = input.number
        input.allow(size)
        bytes = declaration.compressor_codec(compressor).decompress(input.rest, size)
        raise UnreadableError, "wrong size" unless bytes.bytesize == size

        bytes.force_encoding(Encoding::BINARY)
      end

      def of_kind(kind, objects, keys)
        case kind
        when OBJECT then objects.first
        when LIST then objects
        else
          whole = keys.is_a?(Array) && keys.size == objects.size
          whole ? keys.zip(objects).to_h : raise(UnreadableError, "damaged (not as many keys as objects)")
        end
      end
    end
  end
end
