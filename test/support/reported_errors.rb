# frozen_string_literal: true

require "active_support/error_reporter"

# What Rails' error reporter is given.
module ReportedErrors
  # A subscriber of the error reporter.
  class Reports
    attr_reader :all

    def initialize
      @all = []
    end

    def report(error, handled:, severity:, context:, source:)
      @all << { error: error, handled: handled, severity: severity, context: context, source: source }
    end
  end

  # @return [Array<Hash>] what is reported during the block
  def reports_of
    Larder::Reports.reset
    reports = Reports.new
    ActiveSupport.error_reporter.subscribe(reports)
    yield
    reports.all
  ensure
    ActiveSupport.error_reporter.unsubscribe(reports)
  end

  # @return [Array<Exception>] the same, the errors alone
  def reported(&block)
    reports_of(&block).map { |report| report[:error] }
  end
end
