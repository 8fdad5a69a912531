# frozen_string_literal: true

# Numbers that are no Integer of a machine word and no Float as parts.

require "larder/larder"

module Larder
  module Tree
    # Exact ones.
    # @api private
    module Numbers
      TAKERS = { "BigDecimal" => :take_decimal, "Rational" => :take_rational, "Complex" => :take_complex,
                 "Integer" => :take_integer }.freeze
      # As BigDecimal writes them. A NaN is no part of Larder's bytes: as a key it equals nothing, not even itself.
      DECIMAL_TEXT = /\A-?(?:Infinity|0\.\d+(?:e-?\d{1,18})?)\z/
      HEXADECIMAL = /\A-?\h+\z/
      private_constant :DECIMAL_TEXT, :HEXADECIMAL

      private

      # Not _dump: what that makes has a size before it, and its reader allocates that size.
      def take_decimal(decimal)
        text = decimal.to_s("e")
        [DECIMAL, [text]] if DECIMAL_TEXT.match?(text)
      end

      def make_decimal(text)
        DECIMAL_TEXT.match?(text) ? BigDecimal(text) : UNREADABLE
      end

      def take_rational(number)
        [RATIONAL, [number.numerator, number.denominator]]
      end

      def make_rational(numerator, denominator)
        Rational(numerator, denominator)
      end

      def take_complex(number)
        parts = number.rectangular
        [COMPLEX, parts] if parts.all?(Parts::REAL)
      end

      def make_complex(real, imaginary)
        Complex(real, imaginary)
      end

      # Of more than 62 bits.
      def take_integer(number)
        [INTEGER, [number.to_s(16)]]
      end

      def make_integer(text)
        HEXADECIMAL.match?(text) ? Integer(text, 16) : UNREADABLE
      end
    end
  end
end
