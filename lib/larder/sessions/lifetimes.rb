# frozen_string_literal: true

# Decides when a session has ended, and for how long a backend keeps it.

module Larder
  module Sessions
    # The timeouts of sessions.
    class Lifetimes
      # Seconds for which a use need not be written again, at most.
      USED_EVERY = 60
      # Or this part of the idle timeout, where that is less.
      PART = 4
      private_constant :PART

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
