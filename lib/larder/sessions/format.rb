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

      # JSON, of which {JsonRoundTrip} says what it keeps. Safe to read whoever wrote it. Nested 100 deep at most, which
      # is the library's own limit: options, even those that say the same, double its time for what sessions are.
      module Json
        module_function

        # @param values [Hash{String => Object}]
        # @return [String] bytes
        # @raise [LossyValueError] naming what JSON has no form for
        def dump(values)
          JSON.generate(values).force_encoding(Encoding::BINARY)
        rescue JSON::JSONError, EncodingError
          JsonRoundTrip.check(values)
          raise
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
        # @return [void]
        # @raise [LossyValueError] naming the first value that would come back as something else
        def check(values)
          JsonRoundTrip.check(values)
        end

        # @param _bytes [String]
        # @return [true] whether these are of this form, so that what is in them was checked
        def wrote?(_bytes)
          true
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

        # @param (see Json.load)
        # @return (see Json.load)
        # @raise (see Json.load)
        def load(bytes)
          wrote?(bytes) ? Json.load(bytes) : Marshalled.load(bytes)
        end

        # @param (see Json.check)
        # @return [void]
        # @raise (see Json.check)
        def check(values)
          Json.check(values)
        end

        # @param bytes [String]
        # @return [Boolean] false: Marshal did, whose values JSON may not have
        def wrote?(bytes)
          !bytes.start_with?(MARSHAL)
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
