# frozen_string_literal: true

# Announces what is changed by a dashboard, and who does it.

require_relative "problem"

module Larder
  class Dashboard
    # Sends an event of ActiveSupport::Notifications for each change.
    # @api private
    class Audit
      # @param visit [Visit]
      def initialize(visit)
        @visit = visit
      end

      # @param event [String] its name
      # @param payload [Hash{Symbol => Object}] it gets `:count` (nil: unknown) and `:actor`, too
      # @yieldreturn [Array(Integer), Array(nil)] makes the change, and answers the count first
      # @return [Array] the block's
      # @raise [Problem] the actor is not known, so nothing was changed
      def announce(event, payload)
        payload = { **payload, count: nil, actor: actor }
        ActiveSupport::Notifications.instrument(event, payload) do
          yield.tap { |count, *| payload[:count] = count }
        end
      end

      private

      # Without the name of the actor the event would be of no use.
      def actor
        @visit.settings.actor&.call(@visit.request)
      rescue StandardError => error
        ::Larder::Application.log("larder: the dashboard changed nothing, as actor: raised #{error.class}: " \
                                  "#{error.message}")
        raise Problem.new("Nothing was changed", "The option actor: of the dashboard raised #{error.class}.",
                          status: 500)
      end
    end
  end
end
