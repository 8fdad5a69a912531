# frozen_string_literal: true

# Owns what one request did to a session, and how that is done again to what another request has made of it meanwhile.

module Larder
  module Sessions
    # The difference between a session as a request found it and as it leaves it, by key. Values are compared by their
    # bytes, so that what was changed within them counts.
    class Changeset
      # Keys that the first writer decides: others have already handed out what follows from its value.
      FIRST_WINS = %w[_csrf_token].freeze
      # What is under a key that there is not.
      NOTHING = Object.new.freeze
      private_constant :NOTHING

      # @param before [Hash{String => Object}] as it was found: what its bytes say, untouched since
      # @param after [Hash{String => Object}]
      # @param format [#dump, #text?] see {Format}
      # @return [Changeset]
      def self.between(before, after, format)
        left = before.size
        set = after.reject do |key, value|
          was = before.fetch(key, NOTHING)
          left -= 1 unless NOTHING.equal?(was)
          was.equal?(value) || same?(was, value, format)
        end
        new(set, left.zero? ? [] : before.keys - after.keys, before)
      end

      # What has nothing within it needs no bytes to be compared, and what is one object not even a look: before has
      # objects of its own, but for numbers and their like.
      def self.same?(one, other, format)
        case one
        when String then texts?(one, other, format) ? one == other : dumped?(one, other, format)
        when Integer then integer?(other) ? one == other : dumped?(one, other, format)
        when nil, true, false, NOTHING then false
        else dumped?(one, other, format)
        end
      end

      # A Duration of ActiveSupport's says that it is one, and is not.
      def self.integer?(value)
        case value
        when Integer then true
        else false
        end
      end

      def self.texts?(one, other, format)
        format.text?(one) && format.text?(other) && one.encoding == other.encoding
      end

      def self.dumped?(one, other, format)
        format.dump("" => one) == format.dump("" => other)
      end
      private_class_method :same?, :integer?, :texts?, :dumped?

      # @param set [Hash{String => Object}] what was added or changed
      # @param removed [Array<String>] keys
      # @param before [Hash{String => Object}] what it was
      def initialize(set, removed, before)
        @set = set
        @removed = removed
        @before = before
      end

      # @return [Hash{String => Object}] what was added or changed
      attr_reader :set

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
