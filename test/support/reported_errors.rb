# frozen_string_literal: true

require "active_support/error_reporter"

# What Rails' error reporter is given.
module ReportedErrors
  # @return [Array<Exception>] that are reported during the block
  def reported
    errors = []
    subscriber = Object.new
    subscriber.define_singleton_method(:report) { |error, **| errors << error }
    ActiveSupport.error_reporter.subscribe(subscriber)
    yield
    errors
  ensure
    ActiveSupport.error_reporter.unsubscribe(subscriber)
  end
end
