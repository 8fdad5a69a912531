# frozen_string_literal: true

# Owns the failure policy, which is nowhere else: a store that cannot serve is a miss. A file that cannot be opened is
# reported once, all else, also each delete and overwrite that could not be applied yet, at each failing call.

require "active_support/error_reporter"

module Larder
  module Store
    # Rescues what the byte cache raises. Errors of the caller (a value that cannot be serialized, a blank key) are not
    # its business and pass.
    module Failsafe
      # What counts as "the cache could not serve".
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
