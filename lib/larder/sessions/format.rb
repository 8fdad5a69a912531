# frozen_string_literal: true

# Owns how a session's values become bytes and come back. Which sessions they belong to, and when, is none of its
# business.

require "json"
require_relative "errors"

module Larder
  module Sessions
    # Serializers of sessions, by the names users type.
    module Format
      # Each reads what it wrote; the bytes of equal sessions, made in the same order, are equal.
      NAMES = %i[json hybrid marshal].freeze

      # How Marshal's bytes begin.
      MARSHAL = [Marshal::MAJOR_VERSION, Marshal::MINOR_VERSION].pack("CC").freeze

      # @param name [Symbol, String] one of {NAMES}
      # @return [Module, Object] `dump(Hash)` answers bytes, `load(String)` a Hash
      # @raise [InvalidArgument]
      def self.fetch(name)
        case name&.to_sym
        when :json then Json
        when :hybrid then Hybrid
        when :marshal then Marshalled
        else raise InvalidArgument, "serializer: #{name.inspect} is none of #{NAMES.map(&:inspect).join(", ")}"
        end
      end

      # JSON, of which {JsonRoundTrip} says what it keeps and converts. Safe to read whoever wrote it. Nested 100 deep
      # at most, which is the library's own limit: options, even those that say the same, double its time for what
      # sessions are.
      module Json
        module_function

        # @param values [Hash{String => Object}] converted
        # @return [String] bytes
        def dump(values)
          JSON.generate(values).force_encoding(Encoding::BINARY)
        end

        # For the question whether a session has changed, which costs less than its conversion.
        #
        # @param values [Hash{String => Object}] not yet converted
        # @return [String, nil] bytes; nil: they are to be converted before
        def try_dump(values)
          dump(values)
        rescue JSON::JSONError, EncodingError
          nil
        end

        # @param bytes [String]
        # @return [Hash{String => Object}]
        # @raise [UnreadableError]
        def load(bytes)
          values = JSON.parse(bytes.dup.force_encoding(Encoding::UTF_8))
          return values if values.is_a?(Hash)

          raise UnreadableError, "a session is no JSON object but a #{values.class}"
        rescue JSON::ParserError, EncodingError
          # The parser's error quotes what is in the session, and reports tell of causes.
          raise UnreadableError, "a session is no JSON; if Marshal wrote it, serializer: :hybrid reads it", cause: nil
        end

        # @param values [Hash{String => Object}]
        # @return [Hash{String => Object}] what is read of them later; the same object where that is what they are
        # @raise [LossyValueError] naming the first value that cannot be kept
        def convert(values)
          JsonRoundTrip.convert(values)
        end

        # Texts are converted at once; others stay what they are until the session is kept, as who assigned them may go
        # on changing them.
        #
        # @param key [String]
        # @param value [Object] that is put under it
        # @return [Object] to put there instead
        # @raise [LossyValueError] where it cannot be kept
        def check(key, value)
          return value if JsonRoundTrip.kept?(value)

          converted = JsonRoundTrip.convert(key => value)
          value.is_a?(String) ? converted.each_value.first : value
        end

        # @param value [Object]
        # @return [Boolean] is all that is kept of it its characters?
        def text?(value)
          value.instance_of?(String)
        end
      end

      # Reads what Marshal wrote before, and writes JSON: for the time after an application has changed over.
      module Hybrid
        module_function

        # @param (see Json.dump)
        # @return (see Json.dump)
        # @raise (see Json.dump)
        def dump(values)
          Json.dump(values)
        end

        # @param (see Json.try_dump)
        # @return (see Json.try_dump)
        def try_dump(values)
          Json.try_dump(values)
        end

        # Values that Marshal wrote are converted; those that cannot be are left out.
        #
        # @param (see Json.load)
        # @yieldparam error [LossyValueError] of each key that is left out
        # @return (see Json.load)
        # @raise (see Json.load)
        def load(bytes, &left_out)
          return Json.load(bytes) unless bytes.start_with?(MARSHAL)

          JsonRoundTrip.convertible(Marshalled.load(bytes), &left_out)
        end

        # @param (see Json.convert)
        # @return (see Json.convert)
        # @raise (see Json.convert)
        def convert(values)
          Json.convert(values)
        end

        # @param (see Json.check)
        # @return (see Json.check)
        # @raise (see Json.check)
        def check(key, value)
          Json.check(key, value)
        end

        # @param (see Json.text?)
        # @return (see Json.text?)
        def text?(value)
          Json.text?(value)
        end
      end
    end
  end
end

require_relative "json_round_trip"
require_relative "marshalled"
