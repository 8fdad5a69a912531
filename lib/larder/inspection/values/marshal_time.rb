# frozen_string_literal: true

# Times in Marshal's bytes.

require_relative "node"

module Larder
  module Inspection
    module Values
      # Time writes eight bytes of its own: two words of bits, in UTC.
      module MarshalTime
        # Labels of instance variables for nanoseconds.
        FRACTIONS = %w[nano_num= nano_den= submicro=].freeze

        module_function

        # @param name [String] of a class
        # @param bytes [String] that it wrote
        # @return [Leaf, nil] nil: not those of a Time
        def leaf(name, bytes)
          return unless name == "Time" && bytes.bytesize == 8

          first, second = bytes.unpack("VV")
          return if first[31].zero?

          numbers = [(first >> 14 & 0xFFFF) + 1900, (first >> 10 & 0xF) + 1, first >> 5 & 0x1F, first & 0x1F,
                     second >> 26 & 0x3F, second >> 20 & 0x3F]
          Leaf.new(format("%04d-%02d-%02d %02d:%02d:%02d", *numbers) + format(".%06d UTC", second & 0xFFFFF))
        end
      end
    end
  end
end
