# frozen_string_literal: true

# A plugin of Minitest: writes one line of JSON for each test to the file that FOREIGN_RESULTS names. Minitest finds it
# through the load path; the application's own reporters stay.

require "json"

# The application's Minitest.
module Minitest
  # Writes results as they come, so that a run that dies keeps those before.
  class ForeignReporter < AbstractReporter
    def initialize(path)
      super()
      @file = File.open(path, "a")
      @file.sync = true
    end

    # @param result [Minitest::Result]
    # @return [void]
    def record(result)
      @file.puts(JSON.generate(test: "#{result.klass}##{result.name}", result: outcome(result), seconds: result.time,
                               message: result.failure&.message.to_s.scrub[0, 2000]))
    end

    private

    def outcome(result)
      return "passed" if result.passed?
      return "skipped" if result.skipped?

      result.error? ? "error" : "failed"
    end
  end

  # Called by Minitest.
  def self.plugin_foreign_init(_options)
    path = ENV.fetch("FOREIGN_RESULTS", "")
    reporter << ForeignReporter.new(path) unless path.empty?
  end
end
