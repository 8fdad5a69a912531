# frozen_string_literal: true

# The errors of codecs. A value that a codec cannot read back and a missing gem are errors of the configuration and are
# raised; bytes that cannot be read are a miss (see Codecs::Reading).

module Larder
  # A value that the serializer could not bring back as it is. Raised when it is stored, not when it is read: the
  # message names the class and a serializer that can.
  class UnserializableError < Error
    # @param value [Object]
    # @return [String] for a message, which logs and reports show: what kind of value it is, and nothing of it
    # @api private
    def self.kind_of(value)
      case value
      when nil, true, false then value.inspect
      when String then "a #{value.class} in #{value.encoding}"
      when Float then value.finite? ? "a Float" : value.to_s
      when Integer then "an Integer of #{value.bit_length} bits"
      else "a #{Cacheable.class_of(value)}"
      end
    end
  end

  # A codec's gem is not installed. The message says which line the Gemfile lacks.
  class MissingGemError < Error; end

  # Bytes that no codec makes a value of: truncated, damaged, foreign, unsigned, larger than allowed. Stores of
  # ActiveSupport::Cache see it as their own DeserializationError, which is a miss.
  class UnreadableError < Error; end
end
