# frozen_string_literal: true

# Describes a value: what it consists of, how much of it is text, how well that compresses. Loaded in worker
# processes, and by nothing that must not load the value's classes.

require "set"
require "zlib"

module Larder
  module Lab
    module Advice
      # Walks a value once.
      class PayloadNature
        # Objects that are looked at; of a larger value the rest is not counted.
        MOST = 200_000

        # @param value [Object]
        def initialize(value)
          @classes = Hash.new(0)
          @depth = 0
          @text = 0
          @seen = Set.new.compare_by_identity
          @count = 0
          look(value, 1)
          @bytes = Marshal.dump(value)
        rescue TypeError, SystemStackError => error
          @bytes = nil
          @refusal = error.message
        end

        # @return [Hash{Symbol=>Object}] class: of the value; classes: how many of each; depth; counted: objects; text:
        #   bytes in Strings and Symbols; marshal: bytes, nil where Marshal refuses, and refusal: why; deflated: bytes
        #   that zlib makes of them
        def to_h
          { classes: @classes.sort_by { |name, count| [-count, name] }.to_h, depth: @depth, counted: @count,
            text: @text, marshal: @bytes&.bytesize, refusal: @refusal,
            deflated: @bytes && Zlib.deflate(@bytes).bytesize }
        end

        private

        def look(value, depth)
          return if @count >= MOST

          @count += 1
          @classes[value.class.name || "a class without a name"] += 1
          @depth = depth if depth > @depth
          @text += value.to_s.bytesize if value.is_a?(String) || value.is_a?(Symbol)
          parts = PayloadNature.parts(value)
          parts.each { |part| look(part, depth + 1) } if parts && @seen.add?(value)
        end

        class << self
          # @param value [Object]
          # @return [Array<Object>, nil] what it holds; nil: nothing that is looked into
          def parts(value)
            case value
            when Array then value
            when Hash then value.to_a.flatten(1)
            when Struct, Set then value.to_a
            else parts_of_record(value)
            end
          end

          private

          def parts_of_record(value)
            return unless value.respond_to?(:attributes) && !value.is_a?(Module)

            attributes = value.attributes
            attributes.to_a.flatten(1) if attributes.is_a?(Hash)
          end
        end
      end
    end
  end
end
