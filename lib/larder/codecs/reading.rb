# frozen_string_literal: true

# The only policy for bytes that cannot be read: a miss of the store, and a report of the reason, at most once a minute,
# so that a deploy that changes a codec does not flood the error tracker.

require "active_support"
require "active_support/cache"
require "larder/codecs/reports"
require "larder/bytes/own_failure"

module Larder
  module Codecs
    # Turns a codec's error into the one that stores of ActiveSupport::Cache treat as a miss.
    module Reading
      SOURCE = "codecs.larder"
      # Words of a library that name a class, and nothing of the value.
      NAMING = %r{\A(?:uninitialized constant|undefined class/module) [\w:]+}
      private_constant :NAMING

      module_function

      # @param who [#to_s] the codec that was configured, for the report
      # @param size_bytes [Integer] of what is read
      # @param quotes [Boolean] true: the message of a library may quote what it read, and is not reported
      # @return [Object] what the block makes of the bytes
      # @raise [ActiveSupport::Cache::DeserializationError] it could not
      def guard(who, size_bytes, quotes: true)
        yield
      rescue ActiveSupport::Cache::DeserializationError # of a codec within, and reported there
        raise
      rescue UnreadableError => error
        unreadable(who, error)
      rescue *OwnFailure::KINDS => e # what a library says of strange bytes
        raise unless OwnFailure.again?(e, size_bytes) { yield }

        text = e.message.to_s.scrub[0, 200]
        text = text[NAMING] if quotes
        unreadable(who, UnreadableError.new([e.class, text].compact.join(": ")))
      end

      # @raise [ActiveSupport::Cache::DeserializationError]
      def unreadable(who, error)
        report(who, error)
        raise ActiveSupport::Cache::DeserializationError, "#{who}: #{error.message}"
      end

      # @return [void]
      def report(who, error)
        Reports.report(error, source: SOURCE, of: who.to_s, reason: error.message[/\A[^:(]*/],
                              line: "larder: #{who}: #{error.message}")
      end
    end
  end
end
