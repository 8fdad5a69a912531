# frozen_string_literal: true

# The reasons why a dashboard has nothing to show.

module Larder
  class Dashboard
    # Shown as a page of its own: a title, what is the case, and what to do.
    # @api private
    class Problem < Larder::Error
      # @return [String]
      attr_reader :title
      # @return [String, nil]
      attr_reader :remedy
      # @return [Integer] of HTTP
      attr_reader :status

      # @param title [String]
      # @param message [String]
      # @param remedy [String, nil]
      # @param status [Integer]
      def initialize(title, message, remedy = nil, status: 200)
        super(message)
        @title = title
        @remedy = remedy
        @status = status
      end
    end
  end
end
