# frozen_string_literal: true

# The failure policy: a store that cannot serve is a miss. Reads report a file that cannot be opened once, until it was
# opened. All other failures, also a delete or overwrite that could not be applied yet, are reported at each call.

require "larder/codecs/reports"

module Larder
  module Store
    # Rescues errors of the byte cache and of the remote store. Errors of the caller, as a value that cannot be
    # serialized or a blank key, pass.
    # @api private
    class Failsafe
      # The errors that mean that the cache could not serve.
      ERRORS = [Larder::Error].freeze

      # Logs the error and gives it to Rails' error reporter, as {Reports} does: at most once a minute for each cause.
      # An outage of the remote store, or of the backplane, is one cause, also if sessions notice it.
      DEFAULT_ERROR_HANDLER = lambda do |method:, returning:, exception:|
        line = "LarderStore: #{method} failed, returned #{returning.inspect}: #{exception.class}: #{exception.message}"
        cause = if exception.is_a?(RemoteError)
                  type = exception.is_a?(Remote::Refused) ? Remote::Refused : RemoteError
                  { of: method == :backplane, type: type, reason: "" }
                else
                  { of: method, reason: exception.message }
                end
        Reports.report(exception, source: Reports::STORE, line: line, **cause)
      end

      # @param handler [#call, nil] `error_handler:`
      # @param raises [Boolean] `raise_errors:`
      # @yield counts a failure, whatever becomes of it
      def initialize(handler, raises, &count)
        @handler = handler
        @raises = raises
        @count = count
      end

      # @param method [Symbol] for the report
      # @param returning [Object]
      # @return [Object] the block's value, or `returning` if the cache could not serve
      def guard(method, returning: nil)
        yield
      rescue *ERRORS => e
        failed(method, returning, e)
      end

      # For reads of the remote store.
      #
      # @param otherwise [Proc, nil] called if that store must not be asked yet, or does not answer
      # @return [Object] the block's value, or that of `otherwise`
      def ask(method, otherwise = nil)
        yield
      rescue Remote::Waiting
        otherwise&.call
      rescue RemoteError => e
        failed(method, nil, e)
        otherwise&.call
      end

      # For writes.
      #
      # @return [Object] the block's value; false: the value can never be stored; nil: the cache could not serve
      def guard_write(method)
        yield
      rescue Larder::UnserializableError
        raise
      rescue Larder::InvalidArgument => e
        failed(method, false, e)
      rescue *ERRORS => e
        failed(method, nil, e)
      end

      # @return [Object] `returning`
      # @raise [Larder::Error] `error`, where the store was made with raise_errors: true, or `error_handler:` raises it
      def failed(method, returning, error)
        @count&.call
        raise error if @raises || handler_raises?(method, returning, error)

        returning
      end

      # Calls `error_handler:`. An error of its own is reported, and does not reach the caller.
      #
      # @return [Boolean] true if it has raised the error that it was given
      def handler_raises?(method, returning, error)
        @handler&.call(method: method, returning: returning, exception: error)
        false
      rescue StandardError => e
        return true if e.equal?(error)

        line = "LarderStore: error_handler: raised #{e.class}: #{e.message} (#{e.backtrace&.first}). The call of " \
               "#{method} has failed by #{error.class}: #{error.message}"
        Reports.report(e, source: Reports::STORE, line: line, of: :error_handler)
        false
      end

      # Reports an error that was answered with an old value.
      #
      # @param logger [Logger, nil]
      # @return [void]
      def answered_with_old_value(error, logger)
        ActiveSupport.error_reporter&.report(error, handled: true, severity: :warning, source: Reports::STORE)
      rescue StandardError => e
        # As Rails does, which without a logger raises: here the old value is the answer.
        message = "Error subscriber raised an error: #{e.message} (#{e.class})"
        logger ? logger.fatal { [message, *e.backtrace].join("\n") } : warn(message)
      end
    end
  end
end
