# frozen_string_literal: true

# Marshal as the serializer of sessions. Nothing else in Larder's sessions calls Marshal.

require "larder/own_failure"

module Larder
  module Sessions
    module Format
      # Marshal, which keeps every object, and runs code of whoever can write the bytes: only where nobody else can.
      module Marshalled
        module_function

        # @param values [Hash{String => Object}]
        # @return [String] bytes
        # @raise [LossyValueError] naming the key of what Marshal cannot dump
        def dump(values)
          Marshal.dump(values)
        rescue TypeError => error
          raise unless OwnFailure.again?(error) { Marshal.dump(values) }

          key, = values.find { |_, value| unmarshallable?(value) }
          raise LossyValueError, "session[#{key.inspect}] cannot be kept: #{error.message}"
        end

        # @param values [Hash{String => Object}]
        # @param bytes [String] of a session as it was found
        # @return [Boolean] are they its values?
        # @raise (see dump)
        def unchanged?(values, bytes)
          dump(values) == bytes
        end

        # @param bytes [String]
        # @return [Hash{String => Object}]
        # @raise [UnreadableError]
        def load(bytes)
          values = Marshal.load(bytes)
          return values if values.is_a?(Hash)

          raise UnreadableError, "a session is no Hash but a #{values.class}"
        rescue TypeError, ArgumentError, EOFError => error
          raise unless OwnFailure.again?(error, bytes.bytesize) { Marshal.load(bytes) }

          raise UnreadableError, "a session cannot be read: #{error.message}"
        end

        # Marshal brings back what it dumps.
        # @return [Hash{String => Object}] the same
        def convert(values)
          values
        end

        # What Marshal cannot dump is refused when the session is stored: to try each value would cost too much.
        # @return [Object] the same
        def check(_key, value)
          value
        end

        def unmarshallable?(value)
          Marshal.dump(value)
          false
        rescue TypeError
          true
        end
        private_class_method :unmarshallable?
      end
    end
  end
end
