# frozen_string_literal: true

# Owns what one request did to a session, and how that is done again to what another request has made of it meanwhile.

module Larder
  module Sessions
    # The difference between a session as a request found it and as it leaves it, by key. Values are compared by their
    # bytes, so that what was changed within them counts.
    class Change
      # Keys that the first writer decides: others have already handed out what follows from its value.
      FIRST_WINS = %w[_csrf_token].freeze

      # @param before [Hash{String => Object}] as it was found: what its bytes say, untouched since
      # @param after [Hash{String => Object}]
      # @param format [#dump] see {Format}
      # @return [Change]
      def self.between(before, after, format)
        set = after.reject { |key, value| before.key?(key) && same?(before[key], value, format) }
        new(set, before.keys - after.keys, before)
      end

      # What has nothing within it needs no bytes to be compared.
      def self.same?(one, other, format)
        case one
        when nil, true, false then one.equal?(other)
        when Integer then other.is_a?(Integer) && one == other
        when String then plain?(one, other) ? one == other : dumped?(one, other, format)
        else dumped?(one, other, format)
        end
      end

      def self.plain?(one, other)
        one.instance_of?(String) && other.instance_of?(String) && one.encoding == other.encoding &&
          one.instance_variables.empty? && other.instance_variables.empty?
      end

      def self.dumped?(one, other, format)
        format.dump("" => one) == format.dump("" => other)
      end
      private_class_method :same?, :plain?, :dumped?

      # @param set [Hash{String => Object}] what was added or changed
      # @param removed [Array<String>] keys
      # @param before [Hash{String => Object}] what it was
      def initialize(set, removed, before)
        @set = set
        @removed = removed
        @before = before
      end

      # @return [Boolean] did the request change nothing?
      def none?
        @set.empty? && @removed.empty?
      end

      # @param now [Hash{String => Object}] the session as it is now
      # @return [Hash{String => Object}] with this change: what others did to other keys stays
      def applied_to(now)
        set = @set.reject { |key, _| FIRST_WINS.include?(key) && now.key?(key) && !@before.key?(key) }
        now.except(*@removed).merge(set)
      end
    end
  end
end
