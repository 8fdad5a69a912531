# frozen_string_literal: true

# Notices sessions that look signed in and are not known to be, where the application has not said how to know.

require_relative "errors"

module Larder
  module Sessions
    # Somebody seems to be signed in under a key that nobody looks at: such a session is anonymous. The message names
    # the option that says it.
    class UnknownUserError < Error
      # @param key [String]
      def initialize(key)
        super("session[#{key.inspect}] looks like who is signed in, and is not known to be: the session is " \
              "anonymous. It is evicted first, ends earlier, and no question finds it. Say " \
              "user: #{key.to_sym.inspect} with the session store, or user: :user_id where it means something else.")
      end
    end

    # Is told of sessions without a user, and reports each key once that seems to tell one.
    class SignInHint
      # What keeps the id of a user by its name.
      KEY = /\A(?:(?:current|logged_in|signed_in|auth|authenticated)_)?
             (?:user|account|admin|administrator|member|customer|client|person|profile|login|author|employee|staff
                |operator|owner|identity|manager|student|teacher|patient)(?:_(?:id|uid|uuid))\z
             |\A(?:current_user|user|uid|sub)\z/x
      private_constant :KEY

      # @param report [#call] told of a key, as an {UnknownUserError}
      def initialize(report)
        @report = report
        @told = {}
      end

      # @param values [Hash{String => Object}] of a session in which nobody is known to be signed in
      # @return [void]
      def call(values)
        values.each do |key, value|
          next unless id?(value) && KEY.match?(key) && !@told[key]

          @told[key] = true
          @report.call(UnknownUserError.new(key))
        end
      end

      def id?(value)
        value.is_a?(Integer) || (value.is_a?(String) && !value.empty?)
      end
    end
  end
end
