# frozen_string_literal: true

# The base of the pages.

require_relative "key_address"
require_relative "parts"

module Larder
  class Dashboard
    # A page answers one request. A subclass has {title} and {body}, and where it takes forms `submit`.
    # @api private
    class Page
      include Parts

      # @return [Boolean] does it answer POST, and is it nothing but the way to that?
      def self.changes?
        method_defined?(:submit)
      end

      # @param _visit [Visit]
      # @return [Boolean] is there anything to show? Otherwise the navigation leaves it out
      def self.listed?(_visit)
        true
      end

      # @param visit [Visit]
      def initialize(visit)
        @visit = visit
      end

      # @return [Integer] of HTTP
      def status
        200
      end

      # @!method title
      #   @return [String]

      # @!method body(html)
      #   Writes what is below the title.
      #
      #   @param html [Html]
      #   @return [void]

      private

      attr_reader :visit

      def cache
        visit.cache
      end

      def read_only?
        visit.settings.read_only?
      end

      def now_ms
        @now_ms ||= (Time.now.to_f * 1000).to_i
      end

      def path(page, **params)
        visit.path(page, **params)
      end

      # A form whose sending changes something.
      def posting(html, page, **attributes)
        html.form(method: "post", action: path(page), **attributes) do
          html.input(type: "hidden", name: FormToken::FIELD, value: visit.token.value)
          yield
        end
      end
    end
  end
end
