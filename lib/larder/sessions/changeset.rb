# frozen_string_literal: true

# What one request changed in a session, to be applied to the session as other requests have left it.

require_relative "flash"

module Larder
  module Sessions
    # The difference between a session as a request found it and as it leaves it, by key. Values are compared by their
    # bytes, so changes within a value are seen.
    class Changeset
      # Keys that the first request to set them decides: forms with a token that follows from its value are out already.
      FIRST_WINS = %w[_csrf_token].freeze
      # The value of a missing key.
      NOTHING = Object.new.freeze
      private_constant :NOTHING

      # @param before [Hash{String => Object}] as it was found
      # @param after [Hash{String => Object}]
      # @param format [#dump] see {Format}
      # @return [Changeset]
      def self.between(before, after, format)
        left = before.size
        set = after.reject do |key, value|
          was = before.fetch(key, NOTHING)
          left -= 1 unless NOTHING.equal?(was)
          was.equal?(value) || (!NOTHING.equal?(was) && format.dump("" => was) == format.dump("" => value))
        end
        new(set, left.zero? ? [] : before.keys - after.keys, before)
      end

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
        after = now.except(*@removed).merge(set)
        merge_flash(now, after)
        after
      end

      private

      def merge_flash(now, after)
        Flash::KEYS.each do |key|
          next unless now.key?(key) && (@set.key?(key) || @removed.include?(key))

          messages = Flash.merge(@before[key], @set[key], now[key])
          messages.nil? ? after.delete(key) : after[key] = messages
        end
      end
    end
  end
end
