# frozen_string_literal: true

# Warns of sessions that look signed in, but count as anonymous because user: is not set.

require_relative "errors"
require_relative "once"

module Larder
  module Sessions
    # A session seems to have a user that Larder does not find. Reported once for each key, never raised.
    class UnknownUserError < Error
      # @param place [String] where the user is
      # @param line [String] what makes Larder find the user
      # @param otherwise [String] the remedy for values that name no user
      def initialize(place, line, otherwise: "")
        super("#{place} looks like who is signed in, and Larder does not know that: the session is anonymous. It is " \
              "evicted first, ends earlier, and no question finds it. Say #{line}#{otherwise}.")
      end
    end

    # Reports each key once that looks like a user's id.
    class SignInHint
      # Names of those that may be signed in.
      WHO = /user|account|admin|administrator|member|customer|client|person|profile|login|author|employee|staff|operator
             |owner|identity|manager|student|teacher|patient/x
      # Names of keys that look like a user's id, and of those that look like a user.
      ID = /\A(?:(?:current|logged_in|signed_in|auth|authenticated|rodauth)_)?(?:#{WHO})_?(?:id|uid|uuid)\z/
      USER = /\A(?:(?:current|logged_in|signed_in|auth|authenticated)_)?(?:user|account|admin|member)\z
              |\A(?:uid|sub|me|user_?info)\z/x
      # Where a user that is a Hash has the id.
      IDS = %w[id user_id uid sub].freeze
      OTHERWISE = ", or user: :user_id where it means something else"
      private_constant :WHO, :ID, :USER, :IDS, :OTHERWISE

      # @param report [#call] told of a key, as an {UnknownUserError}
      def initialize(report)
        @once = Once.new(report)
      end

      # @param values [Hash{String => Object}] of a session in which nobody is known to be signed in
      # @param bound [Boolean] the request has said so itself, see {Sessions.bind}
      # @return [void]
      def call(values, bound: false)
        values.each { |key, value| look_at(key, value) }
        look_at_clearance unless bound
      end

      private

      def look_at(key, value)
        if id?(value)
          @once.call(key) { of_id(key) } if ID.match?(key) || USER.match?(key)
        elsif value.is_a?(Hash) && USER.match?(key)
          inner = IDS.find { |name| id?(value[name]) }
          @once.call(key) { of_hash(key, inner) } if inner
        end
      end

      def of_id(key)
        UnknownUserError.new("session[#{key.inspect}]", "user: #{key.to_sym.inspect} with the session store",
                             otherwise: OTHERWISE)
      end

      def of_hash(key, inner)
        UnknownUserError.new("session[#{key.inspect}][#{inner.inspect}]",
                             "user: ->(session) { session.dig(#{key.inspect}, #{inner.inspect}) } with the session " \
                             "store", otherwise: OTHERWISE)
      end

      # Clearance signs users in by a cookie of its own. Its sessions have nothing about them.
      def look_at_clearance
        return unless defined?(::Clearance::Session)

        @once.call(::Clearance) do
          UnknownUserError.new("the cookie of Clearance", "after_action { Larder::Sessions.bind(current_user) } in " \
                                                          "ApplicationController")
        end
      end

      def id?(value)
        value.is_a?(Integer) || (value.is_a?(String) && !value.empty?)
      end
    end
  end
end
