# frozen_string_literal: true

# Marshal as the serializer of sessions. Nothing else in Larder's sessions calls Marshal.

require "larder/bytes/own_failure"
require_relative "errors"

module Larder
  module Sessions
    module Format
      # Marshal, which keeps every object, and runs code of whoever can write the bytes: only where nobody else can.
      module Marshalled
        REMEDY = "Keep values in sessions that Marshal dumps: of a record its id, of a file its path."
        private_constant :REMEDY

        module_function

        # @param values [Hash{String => Object}] converted
        # @return [String] bytes
        def dump(values)
          Marshal.dump(values)
        end

        # @param values [Hash{String => Object}] not yet converted
        # @param bytes [String] of a session as it was found
        # @return [Boolean] are they its values?
        def unchanged?(values, bytes)
          dump(values) == bytes
        rescue StandardError => error
          raise unless OwnFailure.again?(error) { dump(values) }

          false
        end

        # JSON is read as well: a deploy to :hybrid or :json, or its rollback, leaves sessions in JSON.
        #
        # @param bytes [String]
        # @return [Hash{String => Object}]
        # @raise [UnreadableError]
        def load(bytes)
          return Json.load(bytes) unless bytes.start_with?(MARSHAL)

          values = Marshal.load(bytes)
          return values if values.is_a?(Hash)

          raise UnreadableError, "a session is no Hash but a #{values.class}"
        rescue TypeError, ArgumentError, EOFError => error
          raise unless OwnFailure.again?(error, bytes.bytesize) { Marshal.load(bytes) }

          raise UnreadableError, "a session cannot be read: #{error.message}"
        end

        # Marshal brings back what it dumps. Objects may refuse to be dumped with any error.
        #
        # @param values [Hash{String => Object}]
        # @yieldparam error [LossyValueError] of each key that is left out
        # @return [Hash{String => Object}] the same object where Marshal dumps all of it
        def convert(values)
          return values unless refusal(values)

          values.reject do |key, value|
            error = refusal(value)
            yield LossyValueError.new([key], value.class, reason(value, error), remedy: REMEDY) if error && block_given?
            error
          end
        end

        def reason(value, error)
          "a #{value.class} that Marshal refuses (#{error.message})"
        end

        # @return [Exception, nil] nil: Marshal dumps it
        def refusal(value)
          Marshal.dump(value)
          nil
        rescue StandardError, SystemStackError => error
          raise unless OwnFailure.again?(error) { Marshal.dump(value) }

          error
        end
        private_class_method :reason, :refusal
      end
    end
  end
end
