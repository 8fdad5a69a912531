# frozen_string_literal: true

# Plain Arrays and Hashes that hold objects of declared classes among other things, or of several declarations: what is
# left without the objects, the objects, and where they stand.

module Larder
  module Cacheable
    # Made for one value, when it is stored.
    # @api private
    class Mixture
      # Containers within each other; below that, objects are not looked for.
      MOST_DEPTH = 100
      # Objects are looked for where they usually are: a walk over all that is cached would cost more than its bytes.
      LOOKED_AT = 64
      OF_LIST = 8
      OF_HASH = 16
      private_constant :MOST_DEPTH, :LOOKED_AT, :OF_LIST, :OF_HASH

      # @return [Object] the same containers, with nil for each object
      attr_reader :skeleton
      # @return [Array<Array(Array, Integer, Integer)>] of each object: the keys and indices that lead to it, the number
      #   of its group, and its number there
      attr_reader :places
      # @return [Hash{Declaration => Array<Object>}] an object that stands there twice is there once
      attr_reader :groups

      class << self
        # @return [Mixture, nil] nil: no declared object was found, or there is something that :native does not know
        def of(value)
          mixture = new(value)
          mixture if mixture.places.any? && mixture.bytes
        end

        # @return [Mixture, nil] nil: no declared object was found
        def within(rows)
          mixture = new(rows)
          mixture if mixture.places.any?
        end

        # @return [Boolean] is a declared object among the first few?
        def likely?(value)
          level = [value]
          looked_at = 0
          until level.empty? || looked_at > LOOKED_AT
            return true if level.any? { |inner| Cacheable.of_object(inner) }

            looked_at += level.size
            level = level.flat_map { |inner| first_of(inner) }
          end
          false
        end

        # @return [Boolean] is it nothing but a Hash?
        def plain_hash?(value)
          value.instance_of?(Hash) && value.default.nil? && value.default_proc.nil? && !value.compare_by_identity?
        end

        # Puts objects where they were.
        #
        # @param groups [Array<Array<Object>>]
        # @return [Object] the skeleton
        # @raise [Larder::UnreadableError]
        def fill(skeleton, places, groups)
          raise UnreadableError, "damaged (no places)" unless places.is_a?(Array)

          places.each do |path, group, number|
            holder = path[0..-2].reduce(skeleton) { |inner, key| inner_of(inner, key) }
            raise UnreadableError, "damaged (a place is taken)" unless inner_of(holder, path.last).nil?

            holder[path.last] = groups.fetch(group).fetch(number)
          end
          skeleton
        end

        private

        def first_of(value)
          if value.instance_of?(Array) then value.first(OF_LIST)
          elsif value.instance_of?(Hash) then value.size > OF_HASH ? value.first(OF_HASH).map(&:last) : value.values
          else []
          end
        end

        def inner_of(holder, key)
          return holder.fetch(key) if holder.instance_of?(Array) || holder.instance_of?(Hash)

          raise UnreadableError, "damaged (a place in #{holder.class})"
        end
      end

      def initialize(value)
        @places = []
        @groups = Hash.new { |groups, declaration| groups[declaration] = [] }.compare_by_identity
        @found = {}.compare_by_identity
        @declared = Hash.new { |declared, type| declared[type] = Cacheable.of_type(type) }.compare_by_identity
        @skeleton = take(value, [])
      end

      # @return [String, nil] of the skeleton, by :native
      def bytes
        @bytes ||= Larder.__send__(:_tree_dump, @skeleton, true)
      end

      private

      def take(value, path)
        declaration = @declared[Cacheable.class_of(value)]
        return put(declaration, value, path) if declaration
        return value if path.size >= MOST_DEPTH

        if value.instance_of?(Array) then value.each_with_index.map { |inner, i| take(inner, [*path, i]) }
        elsif Mixture.plain_hash?(value) then value.to_h { |key, inner| [key, take(inner, [*path, key])] }
        else value
        end
      end

      def put(declaration, object, path)
        group, number = @found[object] ||= begin
          objects = @groups[declaration] << object
          [@groups.keys.index { |other| other.equal?(declaration) }, objects.size - 1]
        end
        @places << [path, group, number]
        nil
      end
    end
  end
end
