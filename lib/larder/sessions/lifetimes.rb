# frozen_string_literal: true

# Decides when a session has ended, and for how long a backend keeps it. Checks lengths of time.

require_relative "errors"

module Larder
  module Sessions
    # The timeouts of sessions.
    class Lifetimes
      # Seconds for which a use need not be written again, at most.
      USED_EVERY = 60
      # Or this part of the idle timeout, where that is less.
      PART = 4
      # The longest that an option may say, so that each entry's time of expiry has room in the file.
      LONGEST = 20 * 366 * 86_400
      private_constant :PART, :LONGEST

      # Checks the value of an option.
      #
      # @param name [Symbol] of the option
      # @param given [Numeric, ActiveSupport::Duration, nil]
      # @return [Float, nil]
      # @raise [InvalidArgument]
      def self.seconds(name, given)
        return if given.nil?

        number = given.to_f if given.is_a?(Numeric) && given.real?
        return number if number && number >= 1 && number <= LONGEST # NaN is neither

        raise InvalidArgument, "#{name}: #{given.inspect} must be a number of seconds from 1 to #{LONGEST} " \
                               "(20 years); nil sets no limit"
      end

      # @param options [#[]] of a session's cookie
      # @return [Float, nil] seconds that the browser keeps the cookie; nil: until the browser is closed
      # @raise [InvalidArgument]
      def self.of_cookie(options)
        %i[max_age expire_after].map { |name| options[name] && seconds(name, options[name]) }.compact.first
      end

      # @param idle [Numeric, nil] seconds after its last use when a session ends; nil: never
      # @param anonymous [Numeric, nil] the same where nobody is signed in; nil: as idle
      # @param max [Numeric, nil] seconds after its beginning when it ends, used or not; nil: never
      def initialize(idle: nil, anonymous: nil, max: nil)
        @idle = idle
        @anonymous = [idle, anonymous].compact.min
        @max = max
        @every = every(@idle)
        @anonymous_every = every(@anonymous)
        @rest = @idle && (@idle + @every)
        @anonymous_rest = @anonymous && (@anonymous + @anonymous_every)
      end

      # @return [Numeric, nil] the longest that an unused session lives; nil: for ever
      attr_reader :idle
      # @return [Numeric, nil] the same where nobody is signed in
      attr_reader :anonymous
      # @return [Numeric, nil] the longest that a session lives, used or not; nil: for ever
      attr_reader :max

      # @param record [Record]
      # @param now [Integer] Unix seconds
      # @return [Boolean]
      def over?(record, now)
        return true if @max && now >= record.began + @max

        rest = record.user? ? @rest : @anonymous_rest
        rest ? now >= record.used + rest : false
      end

      # An idle session may live longer by that much.
      #
      # @param record [Record]
      # @return [Numeric] seconds for which a use of it need not be written again
      def used_every(record)
        record.user? ? @every : @anonymous_every
      end

      # @param record [Record] used now
      # @param now [Integer] Unix seconds
      # @return [Numeric, nil] seconds that it is to be kept; nil: for ever
      def left(record, now)
        rest = record.user? ? @rest : @anonymous_rest
        return rest unless @max

        [record.began + @max - now, 1].max.then { |max| rest && rest < max ? rest : max }
      end

      private

      def every(idle)
        idle && idle < PART * USED_EVERY ? idle / PART.to_f : USED_EVERY
      end
    end
  end
end
