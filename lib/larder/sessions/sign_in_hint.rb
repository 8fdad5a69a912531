# frozen_string_literal: true

# Warns of sessions that look signed in, but count as anonymous because user: is not set.

require_relative "errors"
require_relative "once"

module Larder
  module Sessions
    # A session seems to have a user under a key that is not the configured one.
    class UnknownUserError < Error
      # @param key [String]
      def initialize(key)
        super("session[#{key.inspect}] looks like who is signed in, and is not known to be: the session is " \
              "anonymous. It is evicted first, ends earlier, and no question finds it. Say " \
              "user: #{key.to_sym.inspect} with the session store, or user: :user_id where it means something else.")
      end
    end

    # Reports each key once that looks like a user's id.
    class SignInHint
      # Names of keys that look like a user's id.
      KEY = /\A(?:(?:current|logged_in|signed_in|auth|authenticated)_)?
             (?:user|account|admin|administrator|member|customer|client|person|profile|login|author|employee|staff
                |operator|owner|identity|manager|student|teacher|patient)(?:_(?:id|uid|uuid))\z
             |\A(?:current_user|user|uid|sub)\z/x
      private_constant :KEY

      # @param report [#call] told of a key, as an {UnknownUserError}
      def initialize(report)
        @once = Once.new(report)
      end

      # @param values [Hash{String => Object}] of a session in which nobody is known to be signed in
      # @return [void]
      def call(values)
        values.each do |key, value|
          @once.call(key) { UnknownUserError.new(key) } if id?(value) && KEY.match?(key)
        end
      end

      def id?(value)
        value.is_a?(Integer) || (value.is_a?(String) && !value.empty?)
      end
    end
  end
end
