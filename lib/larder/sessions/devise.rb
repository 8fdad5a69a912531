# frozen_string_literal: true

# Makes Devise's sign-out page end a session that got another id a moment ago.

module Larder
  module Sessions
    # For Devise's controllers. The page signs a user out only if it finds one, and finds none in a request with the id
    # that the session had before.
    module Devise
      private

      def process_action(*)
        sign_out_with_former_id if action_name == "destroy" && is_a?(::Devise::SessionsController)
        super
      end

      def sign_out_with_former_id
        session.keys # looks for the session
        Sessions.bind(nil, env: request.env) if request.has_header?(Middleware::GONE)
      end
    end
  end
end
