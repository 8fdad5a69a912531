# frozen_string_literal: true

# What the parts of an object may be, before anything is made of them.

module Larder
  module Tree
    # Kinds of parts, which answer `===` as classes do.
    # @api private
    module Parts
      CLASS_OF = ::Kernel.instance_method(:class)
      VARIABLES_OF = ::Kernel.instance_method(:instance_variables)
      private_constant :CLASS_OF, :VARIABLES_OF

      BITS = 62
      NAME = /\A[A-Z]\w*(?:::[A-Z]\w*)*\z/

      # Whatever the calendar reckons with: larger ones take time and memory.
      SECONDS = ->(part) { part.is_a?(Integer) && part.bit_length <= BITS }
      NANOSECONDS = ->(part) { part.is_a?(Integer) && part >= 0 && part < 1_000_000_000 }
      PLACE = ->(part) { part.is_a?(Integer) && part >= 0 && part.bit_length <= BITS }
      OFFSET = ->(part) { part.nil? || (part.is_a?(Integer) && part.abs < 86_400) }
      # What a clock is called, as Ruby's own names for local time are.
      ZONE = ->(part) { part.nil? || (part.instance_of?(String) && part.bytesize <= 64 && !part.include?("\0")) }
      BOOLEAN = ->(part) { part == true || part == false } # rubocop:disable Style/MultipleComparison -- what they are
      REAL = ->(part) { [Integer, Float, Rational].include?(type(part)) }
      # What can be compared without asking a class of the application.
      RANGE_ENDS = %w[NilClass Integer Float Rational BigDecimal String Symbol Time Date DateTime
                      ActiveSupport::TimeWithZone].freeze
      RANGE_END = ->(part) { RANGE_ENDS.include?(type(part).name) }

      module_function

      # @param object [Object]
      # @return [Class] of it, also if it has a method or a member named class
      def type(object)
        CLASS_OF.bind_call(object)
      end

      # @param object [Object]
      # @param known [Array<Symbol>] instance variables that its class has
      # @return [Boolean] has it no others?
      def plain?(object, known = [])
        names = VARIABLES_OF.bind_call(object)
        names.empty? || (names - known).empty?
      end

      # @param name [String] for which NAME matches
      # @param load [Boolean] may a file be loaded for it?
      # @return [Object, nil] the constant of that name
      def constant(name, load:)
        return Object.const_get(name) if load

        name.split("::").reduce(Object) { |home, part| loaded(home, part) }
      end

      def loaded(home, name)
        return unless home.is_a?(Module) && !home.autoload?(name, false) && home.const_defined?(name, false)

        home.const_get(name, false)
      end
      private_class_method :loaded
    end
  end
end
