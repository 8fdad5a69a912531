# frozen_string_literal: true

# Keeps the guarantee of `fields:` that nothing else of an object is cached. Serializers write objects without asking
# their class, but each calls a method of the object first: Marshal looks for a hook, ActiveSupport's JSON calls
# `as_json`, MessagePack reads a record's attributes. Declared classes record such calls (see Guard). Objects in
# containers that Larder's own format knows are stored separately (see Mixture); a value with an object in another
# container is refused.

require "larder/codecs/cacheable/guard"

module Larder
  module Cacheable
    # Writes a value that may contain objects of declared classes with a serializer.
    # @api private
    module Promise
      WATCH = :larder_watch # the key of the fiber's variable
      NOBODY = {}.freeze
      # met: by class, the declared objects that the serializer has met so far; nil while no serializer runs.
      Watch = Struct.new(:met)
      # Bytes, and the classes of the declared objects that their serializer met.
      Met = Struct.new(:bytes, :types)
      private_constant :WATCH, :NOBODY, :Watch, :Met

      module_function

      # @param name [Symbol] of the serializer
      # @param codec [#dump] the serializer
      # @param value [Object] of no declared class itself
      # @return [String, Mixture] the serializer's bytes; or a mixture, where there are declared objects in the value
      # @raise [Larder::UnserializableError]
      def dump(name, codec, value)
        mixture = Mixture.new(value) if name == :active_support_json # as_json may leave out what is declared
        return mixture if mixture&.any?

        found = watched(codec, value)
        return found unless found.is_a?(Met)

        mixture ||= Mixture.new(value)
        mixture.any? ? mixture : checked(found, value)
      rescue UnserializableError
        mixture ||= Mixture.new(value)
        mixture.any? ? mixture : raise
      end

      # @param codec [#dump] the serializer
      # @param value [Object]
      # @return [String] its bytes
      # @raise [Larder::UnserializableError] it met an object of a class with fields:
      def dump_whole(codec, value)
        found = watched(codec, value)
        found.is_a?(Met) ? checked(found, value) : found
      end

      # Records that a serializer, or a hook that it called, calls a method of an object.
      #
      # @param object [Object] of a declared class
      # @return [void]
      def meet(object)
        watch = Thread.current[WATCH]
        return unless watch&.met

        watch.met = {} if watch.met.equal?(NOBODY)
        watch.met[Cacheable.class_of(object)] = true
      end

      # @return [String, Met] the serializer's bytes
      def watched(codec, value)
        watch = (Thread.current[WATCH] ||= Watch.new)
        before, watch.met = watch.met, NOBODY
        bytes = codec.dump(value)
        watch.met.equal?(NOBODY) ? bytes : Met.new(bytes, watch.met.keys)
      ensure
        watch.met = before
      end

      def checked(found, value)
        type = found.types.find { |met| Cacheable.of_type(met)&.promises? }
        return found.bytes unless type

        raise UnserializableError, "cached_with of #{type} keeps its fields: only, and an object of it is in a value " \
                                   "of #{Cacheable.class_of(value)} that other serializers write whole; cache it in " \
                                   "Arrays, Hashes, Sets, Structs, Data or records (of a relation, to_a)"
      end
      private_class_method :watched, :checked
    end
  end
end
