# frozen_string_literal: true

# The failure policy: a store that cannot serve is a miss. Reads report a file that cannot be opened once, until it was
# opened. All other failures, also a delete or overwrite that could not be applied yet, are reported at each call.

require "larder/reports"

module Larder
  module Store
    # Rescues errors of the byte cache. Errors of the caller, as a value that cannot be serialized or a blank key, pass.
    module Failsafe
      # The errors that mean that the cache could not serve.
      ERRORS = [Larder::Error].freeze

      # The source under which errors are reported, named as those of Rails' own stores.
      SOURCE = "larder_store.active_support"

      # Logs the error and gives it to Rails' error reporter, as {Reports} does: at most once a minute for each cause.
      # An outage of the remote store, or of the backplane, is one cause.
      DEFAULT_ERROR_HANDLER = lambda do |method:, returning:, exception:|
        line = "LarderStore: #{method} failed, returned #{returning.inspect}: #{exception.class}: #{exception.message}"
        cause = if exception.is_a?(RemoteError) then { of: method == :backplane, reason: "" }
                else { of: method, reason: exception.message }
                end
        Reports.report(exception, source: SOURCE, line: line, **cause)
      end

      private

      # The block's value, or `returning` where the cache could not serve.
      def failsafe(method, returning: nil)
        yield
      rescue *ERRORS => e
        failed(method, returning, e)
      end

      # @return [Object] `returning`
      # @raise [Larder::Error] `error`, where the store was made with raise_errors: true, or `error_handler:` raises it
      def failed(method, returning, error)
        raise error if @raise_errors || raised_by_handler?(method, returning, error)

        returning
      end

      # Calls `error_handler:`. An error of its own is reported, and does not reach the caller.
      #
      # @return [Boolean] has it raised the error that it was given?
      def raised_by_handler?(method, returning, error)
        @error_handler&.call(method: method, returning: returning, exception: error)
        false
      rescue StandardError => e
        return true if e.equal?(error)

        line = "LarderStore: error_handler: raised #{e.class}: #{e.message} (#{e.backtrace&.first}). The call of " \
               "#{method} has failed by #{error.class}: #{error.message}"
        Reports.report(e, source: SOURCE, line: line, of: :error_handler)
        false
      end
    end
  end
end
