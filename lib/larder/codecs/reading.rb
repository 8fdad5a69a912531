# frozen_string_literal: true

# The only policy for bytes that cannot be read: a miss of the store, and one report in a process for each reason, so
# that a deploy that changes a codec does not flood the error tracker.

require "active_support/error_reporter"
require "larder/own_failure"

module Larder
  module Codecs
    # Turns a codec's error into the one that stores of ActiveSupport::Cache treat as a miss.
    module Reading
      SOURCE = "codecs.larder"
      MOST_REASONS = 64 # of a process

      @reported = {}
      @lock = Mutex.new

      module_function

      # @param who [#to_s] the codec that was configured, for the report
      # @param size_bytes [Integer] of what is read
      # @return [Object] what the block makes of the bytes
      # @raise [ActiveSupport::Cache::DeserializationError] it could not
      def guard(who, size_bytes)
        yield
      rescue ActiveSupport::Cache::DeserializationError # of a codec within, and reported there
        raise
      rescue UnreadableError => error
        unreadable(who, error)
      rescue *OwnFailure::KINDS => e # what a library says of strange bytes
        raise unless OwnFailure.again?(e, size_bytes) { yield }

        unreadable(who, UnreadableError.new("#{e.class}: #{e.message.to_s.scrub[0, 200]}"))
      end

      # @raise [ActiveSupport::Cache::DeserializationError]
      def unreadable(who, error)
        report(who, error)
        raise ActiveSupport::Cache::DeserializationError, "#{who}: #{error.message}"
      end

      # @return [void] forgets what was reported, so that it is reported again
      def reset
        @lock.synchronize { @reported.clear }
      end

      # @return [void] to ActiveSupport.error_reporter, once for each reason
      def report(who, error)
        reason = "#{who}: #{error.message[/\A[^:(]*/]}"
        fresh = @lock.synchronize { @reported.size < MOST_REASONS && !@reported[reason] && (@reported[reason] = true) }
        ActiveSupport.error_reporter&.report(error, handled: true, severity: :warning, source: SOURCE) if fresh
      end
    end
  end
end
