# frozen_string_literal: true

# Values that contain objects of declared classes among other things: in Arrays, Hashes, Sets, Structs, in associations
# of records, in every container that Larder's own format knows. The bytes of the container have a number in place of
# each object; the objects are stored separately, grouped by declaration.

module Larder
  module Cacheable
    # Made for one value when it is stored. Larder::Tree calls it for each object.
    # @api private
    class Mixture
      # @return [String, nil] of the value, with numbers for objects; nil: there is something that :native does not know
      attr_reader :bytes
      # @return [Hash{Declaration => Array<Object>}] an object that occurs twice is here once
      attr_reader :groups

      # @param value [Object] of no declared class itself
      def initialize(value)
        @groups = {}.compare_by_identity
        @numbers = {}.compare_by_identity
        @bytes = Tree.dump(value, self)
      end

      # @return [Boolean] is all of the value known, and a declared object in it?
      def any?
        !@bytes.nil? && @groups.any?
      end

      # @return [Boolean] does the class have a declaration?
      def keeps?(type)
        !Cacheable.of_type(type).nil?
      end

      # @return [Array(Integer, Integer)] the number of the object's group, and its own there
      def keep(object, type)
        @numbers[object] ||= begin
          declaration = Cacheable.of_type(type)
          objects = (@groups[declaration] ||= []) << object
          [@groups.keys.index { |other| other.equal?(declaration) }, objects.size - 1]
        end
      end
    end
  end
end
