# frozen_string_literal: true

# The failure policy: a store that cannot serve is a miss. A file that cannot be opened is reported once; any other
# failure, also of a delete or overwrite that could not be applied yet, at each call.

require "active_support/error_reporter"

module Larder
  module Store
    # Rescues errors of the byte cache. Errors of the caller, as a value that cannot be serialized or a blank key, pass.
    module Failsafe
      # The errors that mean that the cache could not serve.
      ERRORS = [Larder::Error].freeze

      # The source under which errors are reported, named as those of Rails' own stores.
      SOURCE = "larder_store.active_support"

      # Logs the error and gives it to Rails' error reporter.
      DEFAULT_ERROR_HANDLER = lambda do |method:, returning:, exception:|
        ActiveSupport::Cache::LarderStore.logger&.error do
          "LarderStore: #{method} failed, returned #{returning.inspect}: #{exception.class}: #{exception.message}"
        end
        ActiveSupport.error_reporter&.report(exception, handled: true, severity: :warning, source: SOURCE)
      end

      private

      # The block's value, or `returning` where the cache could not serve.
      def failsafe(method, returning: nil)
        yield
      rescue *ERRORS => e
        failed(method, returning, e)
      end

      # @return [Object] `returning`
      # @raise [Larder::Error] `error`, where the store was made with raise_errors: true
      def failed(method, returning, error)
        raise error if @raise_errors

        @error_handler&.call(method: method, returning: returning, exception: error)
        returning
      end
    end
  end
end
