# frozen_string_literal: true

# Reports errors that come again with each request once in a process.

module Larder
  module Sessions
    # A report of its own for each subject, as a key of the session.
    class Once
      # Subjects that are told apart. Names of keys may come from users.
      MOST = 100
      private_constant :MOST

      # @param report [#call] called with an Error
      def initialize(report)
        @report = report
        @reported = {}
      end

      # @param subject [Object]
      # @yieldreturn [Error] about the subject
      # @return [void]
      def call(subject)
        return if @reported.key?(subject) || @reported.size >= MOST

        @reported[subject] = true
        @report.call(yield)
      end
    end
  end
end
