# frozen_string_literal: true

# Is put before the methods of a declared class that serializers and their hooks call on an object. It records the call
# (see Promise) and changes nothing else: outside of stores these methods are the application's.

module Larder
  module Cacheable
    # Prepended to a class, over its own methods and those of its subclasses, as often as it is given another of these.
    # @api private
    class Guard < Module
      # Of ActiveSupport::JSON, also where it includes associations; of Marshal; of YAML; of MessagePack.
      METHODS = %i[as_json serializable_hash marshal_dump _dump encode_with to_msgpack to_msgpack_ext
                   attributes_for_database].freeze
      # Marshal and YAML ask first whether there is one, and write without where there is none.
      ASKED_FOR = %i[marshal_dump encode_with].freeze
      ALL = (METHODS + [:respond_to?]).freeze
      private_constant :METHODS, :ASKED_FOR, :ALL

      # @param type [Class] declared, or of a single object of such
      # @return [void] it, and what descends from it, note what they are asked
      def self.cover(type)
        open = ALL.select { |name| open?(type, name) }
        type.prepend(new(type, open)) if open.any?
        type.subclasses.each { |subclass| cover(subclass) }
      end

      # @return [Boolean] is a method of that name one that a guard stands before?
      def self.concerns?(name)
        ALL.include?(name)
      end

      def self.open?(type, name)
        return false unless type.method_defined?(name) || type.private_method_defined?(name)

        !type.instance_method(name).owner.is_a?(Guard)
      end
      private_class_method :open?

      # @param type [Class]
      # @param names [Array<Symbol>] of its methods
      def initialize(type, names)
        super()
        names.each do |name|
          name == :respond_to? ? stand_before_question : stand_before(name)
          private name if type.private_method_defined?(name)
        end
      end

      # @return [String] in lists of ancestors
      def inspect
        "#<#{Guard}>"
      end

      private

      def stand_before(name)
        define_method(name) do |*arguments, **options, &block|
          Promise.meet(self)
          super(*arguments, **options, &block)
        end
      end

      def stand_before_question
        define_method(:respond_to?) do |name, include_all = false|
          Promise.meet(self) if ASKED_FOR.include?(name)
          super(name, include_all)
        end
      end
    end
  end
end
