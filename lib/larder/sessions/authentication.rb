# frozen_string_literal: true

# Ties the authentication that Rails 8 generates to Larder's sessions: a user is signed in only as long as its table and
# Larder's session agree.

require_relative "../sessions"

module Larder
  module Sessions
    # For controllers whose authentication is that of `bin/rails generate authentication`. {Sessions.logged_in?},
    # {Sessions.for} and the others then know everybody who signs in, and the signed cookie opens nothing once
    # {Sessions.logout} or {Sessions.revoke} has ended the session. Users who were signed in before it was included sign
    # in again. Each sign-in gives the session another id.
    #
    # {Rows} ends the session when its row is destroyed, and {Connection} refuses Action Cable to those who are logged
    # out.
    #
    # The session's cookie should live as long as that of the authentication: `config.session_store :larder_store,
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

      # For the model of the rows: with a row, as by `user.sessions.destroy_all`, its session ends. A request that
      # destroys the row of its own session keeps that session, and its user is signed out.
      #
      # @example
      #   class Session < ApplicationRecord
      #     include Larder::Sessions::Authentication::Rows
      #     belongs_to :user
      #   end
      module Rows
        # @api private
        def self.included(model)
          model.after_destroy_commit { |row| Authentication.end_session(row) }
        end
      end

      # For Action Cable's connection: refuses whoever was logged out and still has the signed cookie. Needs `prepend`.
      #
      # @example
      #   class ApplicationCable::Connection < ActionCable::Connection::Base
      #     prepend Larder::Sessions::Authentication::Connection
      #   end
      module Connection
        private

        def set_current_user
          row = cookies.signed[:session_id]
          super if row && request.session[KEY] == row
        end
      end

      class << self
        # @api private
        # @param row [ActiveRecord::Base] that was destroyed
        # @return [void]
        def end_session(row)
          env = Sessions.request
          return leave(env) if env && env[Rack::RACK_SESSION]&.[](KEY) == row.id

          user = row.user || row.user_id or return # the user may have been deleted with the row
          Sessions.for(user).each { |info| Sessions.revoke(info.handle) if info[KEY] == row.id }
        end

        # @api private
        # @param env [Hash] of a request in whose session nobody is signed in any more
        # @return [void]
        def leave(env)
          env[Rack::RACK_SESSION].delete(KEY)
          Sessions.bind(nil, env: env)
        end
      end

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
        return row if session[KEY] == row&.id

        Authentication.leave(request.env) if session[KEY]
        nil
      end

      def terminate_session
        super
        Authentication.leave(request.env)
      end
    end
  end
end
