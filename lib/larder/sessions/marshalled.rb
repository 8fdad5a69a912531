# frozen_string_literal: true

# Owns sessions as Marshal keeps them: all of Larder's sessions that asks Marshal, and only where it is chosen by name.

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

        # @param (see dump)
        # @return (see dump)
        # @raise (see dump)
        def try_dump(values)
          dump(values)
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

        # What it cannot dump is found out when the session is kept: most that it can is costly to try.
        # @return [Object] the same
        def check(_key, value)
          value
        end

        # Marshal keeps what modules and variables a String has.
        # @return [false]
        def text?(_value)
          false
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
