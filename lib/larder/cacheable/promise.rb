# frozen_string_literal: true

# What `fields:` promises: nothing else of an object is cached. Serializers write objects without asking their class, so
# what they wrote is looked at: Marshal and MessagePack name the classes of objects in their bytes, ActiveSupport's JSON
# asks each object for `as_json`, the others know no objects at all. Objects in containers that Larder's own bytes know
# are kept apart (see Mixture); of one in any other container the value is refused.

module Larder
  module Cacheable
    # Bytes by a serializer, of what may hold objects of declared classes.
    # @api private
    module Promise
      ENCODING = :larder_encodes_json # the key of the fiber's variable
      NAMING = %i[marshal message_pack].freeze
      MARSHAL = "\x04\x08".b.freeze # how its bytes begin
      # Of classes that declared something, and of those that name fields:.
      DECLARED = Names.new { Cacheable.types }
      PROMISED = Names.new { Cacheable.types.select { |type| promises?(type) } }
      private_constant :ENCODING, :NAMING, :MARSHAL, :DECLARED, :PROMISED

      # Of a class with fields:, over its own methods and those of its subclasses.
      module AsJson
        # @raise [Larder::UnserializableError] within Promise.while_encoding
        def as_json(*)
          Promise.check_encoding(self)
          super
        end

        # What `as_json(include: …)` of a record asks for instead.
        #
        # @raise [Larder::UnserializableError] the same
        def serializable_hash(*)
          Promise.check_encoding(self)
          super
        end
      end

      module_function

      # @param name [Symbol] of the serializer
      # @param codec [#dump] the serializer
      # @param value [Object] of no declared class itself
      # @return [String, Mixture] the serializer's bytes; or a mixture, where there are declared objects in the value
      # @raise [Larder::UnserializableError]
      def dump(name, codec, value)
        mixture = Mixture.new(value) if name == :active_support_json
        return mixture if mixture&.any?

        bytes = codec.dump(value)
        return bytes unless NAMING.include?(name) && DECLARED.in?(bytes)

        mixture = Mixture.new(value)
        return mixture if mixture.any?

        checked(name, bytes, value)
      rescue UnserializableError
        mixture = Mixture.new(value)
        mixture.any? ? mixture : raise
      end

      # @param bytes [String] of a serializer
      # @param value [Object] what they were made of
      # @return [String] bytes
      # @raise [Larder::UnserializableError] an object of a class with fields: is in them
      def checked(name, bytes, value)
        return bytes unless NAMING.include?(name) && PROMISED.in?(bytes)

        type = found(name == :marshal ? bytes : ::Marshal.dump(value))
        type ? refuse(type, value) : bytes
      end

      # @param type [Class] with fields:
      # @return [void] it, and what descends from it, are asked whether they may be made JSON
      def guard(type)
        type.prepend(AsJson)
        type.subclasses.each { |subclass| guard(subclass) }
      end

      # @return [Object] what the block returns
      # @raise [Larder::UnserializableError] in it, an object of a class with fields: was asked for its JSON
      def while_encoding
        before, Thread.current[ENCODING] = Thread.current[ENCODING], true
        yield
      ensure
        Thread.current[ENCODING] = before
      end

      # @api private
      def check_encoding(object)
        refuse(object.class, object) if Thread.current[ENCODING]
      end

      # @return [Boolean] has it fields:, of its own or inherited?
      def promises?(type)
        Cacheable.of_type(type)&.promises? || false
      end

      # Marshal makes everything again that it wrote, and tells what it is.
      #
      # @return [Class, nil] of an object with fields:
      def found(marshalled)
        found = nil
        ::Marshal.load(marshalled, lambda do |object|
          type = Cacheable.class_of(object)
          found ||= type if promises?(type) || hides?(object, type) || packs?(object, type)
          object
        end)
        found
      end

      # In bytes of its own making.
      def hides?(object, type)
        return false unless type.method_defined?(:_dump) || type.private_method_defined?(:_dump)

        PROMISED.in?(object.__send__(:_dump, -1).b)
      end

      # What a hook has made with Marshal: a text within the bytes.
      def packs?(object, type)
        type <= String && object.b.start_with?(MARSHAL) && PROMISED.in?(object.b)
      end

      def refuse(type, value)
        raise UnserializableError, "cached_with of #{type} keeps its fields: only, and an object of it is in a value " \
                                   "of #{Cacheable.class_of(value)} that other serializers write whole; cache it in " \
                                   "Arrays, Hashes, Sets, Structs, Data or records (of a relation, to_a)"
      end
      private_class_method :found, :hides?, :packs?, :refuse
    end
  end
end
