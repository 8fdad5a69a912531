# frozen_string_literal: true

# Compares a value with what a serializer returned for it: which types have changed. Loaded in worker processes.

require_relative "payload_nature"

module Larder
  module Lab
    module Advice
      # Walks both side by side.
      class Losses
        # @param value [Object]
        # @param copy [Object]
        # @return [Array<String>] "Symbol becomes String", each kind once; empty: all types came back
        def self.between(value, copy)
          new.tap { |losses| losses.look(value, copy) }.found
        end

        def initialize
          @found = Set.new
          @seen = Set.new.compare_by_identity
          @count = 0
        end

        # @return [Array<String>]
        def found
          @found.to_a
        end

        # @param value [Object]
        # @param copy [Object]
        # @return [void]
        def look(value, copy)
          return if (@count += 1) > PayloadNature::MOST
          return @found << "#{value.class} becomes #{copy.class}" unless value.instance_of?(copy.class)

          parts, others = [value, copy].map { |each| PayloadNature.parts(each) }
          return unless parts && @seen.add?(value)
          return @found << "#{value.class} comes back with other contents" unless parts.size == others.size

          parts.zip(others) { |part, other| look(part, other) }
        end
      end
    end
  end
end
