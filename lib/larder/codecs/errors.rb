# frozen_string_literal: true

# What can go wrong with codecs. A value that a codec cannot bring back, and a gem that is missing, are mistakes of who
# configured it and are raised; bytes that cannot be read are a miss of the store (see Codecs::Reading).

module Larder
  # A value that the serializer could not bring back as it is. Raised when it is stored, not when it is read: the
  # message names the class and a serializer that can.
  class UnserializableError < Error
    LONGEST_SHOWN = 60
    private_constant :LONGEST_SHOWN

    # @param value [Object]
    # @return [String] for a message: what is inspected, or its beginning
    # @api private
    def self.excerpt(value)
      text = value.inspect
      text.size > LONGEST_SHOWN ? "#{text[0, LONGEST_SHOWN]}…" : text
    end
  end

  # A codec's gem is not installed. The message says which line the Gemfile lacks.
  class MissingGemError < Error; end

  # Bytes that no codec makes a value of: truncated, damaged, foreign, unsigned, larger than allowed. Stores of
  # ActiveSupport::Cache see it as their own DeserializationError, which is a miss.
  class UnreadableError < Error; end
end
