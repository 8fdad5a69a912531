# frozen_string_literal: true

# Owns how the authentication that Rails 8 generates and Larder's sessions agree about who is signed in. Names neither
# its models nor its controllers.

require_relative "../sessions"

module Larder
  module Sessions
    # For controllers whose authentication is that of `bin/rails generate authentication`, with a table of its own and a
    # signed cookie. Somebody is signed in where both agree: with this, {Sessions.logged_in?}, {Sessions.for} and
    # the others know everybody who signs in, and a session that {Sessions.logout} or {Sessions.revoke} has ended opens
    # nothing. Who was signed in before it was included signs in again. The id of the session is renewed at each
    # sign-in.
    #
    # The cookie of the session should live as long as that of the authentication: `config.session_store :larder_store,
    # expire_after: 30.days`.
    #
    # @example
    #   class ApplicationController < ActionController::Base
    #     include Authentication
    #     include Larder::Sessions::Authentication
    #   end
    module Authentication
      # Where a session keeps the id of the row that it belongs to.
      KEY = "larder.authentication"

      private

      def start_new_session_for(user)
        super.tap do |row|
          session[KEY] = row.id
          request.session_options[:renew] = true
          Sessions.bind(user, env: request.env)
        end
      end

      def find_session_by_cookie
        row = super
        return row if row.nil? || session[KEY] == row.id

        row.destroy
        nil
      end

      def terminate_session
        super
        session.delete(KEY)
        Sessions.bind(nil, env: request.env)
      end
    end
  end
end
