# frozen_string_literal: true

# The serializers of a session's values.

require "json"
require_relative "errors"

module Larder
  module Sessions
    # Serializers of sessions, by the names users type.
    module Format
      # Each reads what it wrote, and Marshal's reads JSON, too. The bytes of equal sessions, made in the same order,
      # are equal.
      NAMES = %i[json hybrid marshal].freeze

      # How Marshal's bytes begin.
      MARSHAL = [Marshal::MAJOR_VERSION, Marshal::MINOR_VERSION].pack("CC").freeze

      # @param name [Symbol, String] one of {NAMES}
      # @return [Module, Object] `dump(Hash)` answers bytes, `load(String)` a Hash
      # @raise [InvalidArgument]
      def self.fetch(name)
        case name
        when :json, "json" then Json
        when :hybrid, "hybrid" then Hybrid
        when :marshal, "marshal" then Marshalled
        else raise InvalidArgument, "serializer: #{name.inspect} is none of #{NAMES.map(&:inspect).join(", ")}"
        end
      end

      # With these values of config.action_dispatch.cookies_serializer cookies keep Symbols and other objects. nil is
      # Marshal.
      OF_OBJECTS = [nil, :marshal, :message_pack, :message_pack_allow_marshal].freeze
      private_constant :OF_OBJECTS

      # Without serializer: a session is JSON. An application whose cookies keep Ruby objects may expect them of its
      # sessions, too, so its values are watched.
      #
      # @return [Module]
      def self.default
        return Json unless defined?(::Rails.application) && ::Rails.application

        config = ::Rails.application.config
        return Json unless config.respond_to?(:action_dispatch)

        OF_OBJECTS.include?(config.action_dispatch.cookies_serializer) ? Watched : Json
      end

      # JSON, with the values that {JsonRoundTrip} names. Safe to read whoever wrote it. Nested 100 deep at most, the
      # library's default: to pass it, or any option, doubles the time.
      module Json
        extend self # rubocop:disable Style/ModuleFunction -- Hybrid has these methods, too

        # @param values [Hash{String => Object}] converted
        # @return [String] bytes
        def dump(values)
          JSON.generate(values).force_encoding(Encoding::BINARY)
        end

        # Spares the conversion where nothing has changed, as in most requests.
        #
        # @param values [Hash{String => Object}] not yet converted
        # @param bytes [String] of a session as it was found
        # @return [Boolean] are they its values?
        def unchanged?(values, bytes)
          dump(values) == bytes
        rescue JSON::JSONError, EncodingError
          false
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
        # @yieldparam error [LossyValueError] of each value that is left out
        # @return [Hash{String => Object}] what is read of them later; the same object where that is what they are
        def convert(values, &left_out)
          JsonRoundTrip.convert(values, &left_out)
        end
      end

      # JSON of an application that may not know that its sessions are JSON.
      module Watched
        extend Json

        # @param values [Hash{String => Object}]
        # @yieldparam error [LossyValueError, ConvertedValueError] of each value that the next request reads otherwise
        # @return (see Json#convert)
        def self.convert(values, &left_out)
          JsonRoundTrip.convert(values, watched: true, &left_out)
        end
      end

      # JSON that reads what Marshal wrote before the application changed to JSON.
      module Hybrid
        extend Json

        # Values that Marshal wrote are converted, and left out where they cannot be.
        #
        # @param (see Json#load)
        # @yieldparam error [LossyValueError] of each value that is left out
        # @return (see Json#load)
        # @raise (see Json#load)
        def self.load(bytes, &left_out)
          return super unless bytes.start_with?(MARSHAL)

          JsonRoundTrip.convert(Marshalled.load(bytes), &left_out)
        end
      end
    end
  end
end

require_relative "json_round_trip"
require_relative "marshalled"
