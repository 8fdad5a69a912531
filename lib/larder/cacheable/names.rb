# frozen_string_literal: true

# The names of classes, and of what descends from them, looked for in bytes.

module Larder
  module Cacheable
    # Some of the declared classes.
    # @api private
    class Names
      NAME_OF = Module.instance_method(:name)
      private_constant :NAME_OF

      # @yieldreturn [Array<Class>] those that there are now
      def initialize(&types)
        @types = types
        @known = [[], /(?!)/]
      end

      # @param bytes [String] by Marshal, which has names as Ruby does, or by MessagePack, as the classes do
      # @return [Boolean] is one of the names in them?
      def in?(bytes)
        family = with_descendants(@types.call)
        known, pattern = @known
        pattern = pattern_of(family) unless known == family
        pattern.match?(bytes)
      end

      private

      def with_descendants(types)
        types.each_with_object([]) { |type, all| all.push(type, *with_descendants(type.subclasses)) }
      end

      # Remembered unless one of them may still be given a name.
      def pattern_of(family)
        names = family.flat_map { |type| [NAME_OF.bind_call(type), type.name] }
        pattern = Regexp.union(names.compact.uniq.map(&:b))
        @known = [family, pattern].freeze unless names.include?(nil)
        pattern
      end
    end
  end
end
