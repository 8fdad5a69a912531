# frozen_string_literal: true

# Defines Rack::Session::Larder: sessions for any Rack application.

require "rack"
require "rack/session/abstract/id"
require_relative "../../larder/sessions/middleware"

module Rack
  module Session
    # Sessions in a file of Larder's, or in any store of ActiveSupport's.
    #
    # @example
    #   use Rack::Session::Larder, file: "storage/sessions.larder", ephemeral: true, secure: true
    class Larder < Abstract::PersistedSecure
      include ::Larder::Sessions::Middleware

      # Other sites' forms and pictures do not bring the cookie; links do.
      SAME_SITE = :lax

      # The session that a request sees.
      class Values < SecureSessionHash
        include ::Larder::Sessions::Nesting::Lazy
        include ::Larder::Sessions::Removals

        # @param values [#to_hash]
        # @return [void]
        def replace(values)
          super.tap { @store.note_removal(@req, nil) }
        end

        private

        def middleware
          @store
        end
      end
      private_constant :Values

      private

      def session_class
        Values
      end

      # It was reported already.
      def full(_error)
        unserved("No room for more sessions. Try again later.\n")
      end
    end
  end
end
