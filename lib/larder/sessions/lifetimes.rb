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
      # The longest that a request may say, unless the application's is longer. Browsers keep no cookie for longer.
      LONGEST_OF_COOKIE = 400 * 86_400
      private_constant :PART, :LONGEST, :LONGEST_OF_COOKIE

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
        @rest = rest(@idle)
        @anonymous_rest = rest(@anonymous)
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

        rest = rest_of(record)
        !rest.nil? && now >= record.used + rest
      end

      # @param record [Record]
      # @return [Numeric, nil] seconds after its last use when it ends; nil: never
      def idle_of(record)
        record.life || (record.user? ? @idle : @anonymous)
      end

      # @return [Numeric, nil] the longest that any session may be kept after its last use; nil: for ever
      def longest
        [@idle && [@idle, LONGEST_OF_COOKIE].max, @max].compact.min
      end

      # The lifetime that a request has given its session: that of the cookie, if it is another than is configured.
      #
      # @param options [#[]] of the request's session
      # @param configured [#[]] the application's
      # @return [Integer, nil] nil: what is configured
      # @raise [InvalidArgument]
      def own(options, configured)
        life = self.class.of_cookie(options)
        return if life.nil? || life == self.class.of_cookie(configured)

        longest = [@idle || 0, LONGEST_OF_COOKIE].max
        life.clamp(1, longest).ceil
      end

      # An idle session may live longer by that much.
      #
      # @param record [Record]
      # @return [Numeric] seconds for which a use of it need not be written again
      def used_every(record)
        life = record.life
        return every(life) if life

        record.user? ? @every : @anonymous_every
      end

      # @param record [Record] used now
      # @param now [Integer] Unix seconds
      # @return [Numeric, nil] seconds that it is to be kept; nil: for ever
      def left(record, now)
        rest = rest_of(record)
        return rest unless @max

        [record.began + @max - now, 1].max.then { |max| rest && rest < max ? rest : max }
      end

      private

      def rest_of(record)
        life = record.life
        return rest(life) if life

        record.user? ? @rest : @anonymous_rest
      end

      def rest(idle)
        idle && (idle + every(idle))
      end

      def every(idle)
        idle && idle < PART * USED_EVERY ? idle / PART.to_f : USED_EVERY
      end
    end
  end
end
