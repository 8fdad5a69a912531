# frozen_string_literal: true

# What one request changed in a session, to be applied to the session as other requests have left it.

module Larder
  module Sessions
    # Each message is a value of its own, although a library stores all of them under one key of the session. Otherwise
    # a request would remove the message that another has set, also when it removes one that it has shown.
    module Flash
      # The keys of Rails and Sinatra, of Roda and Hanami, and of rack-flash.
      KEYS = %w[flash _flash __FLASH__].freeze

      class << self
        # @param before [Object, nil] what the request found; nil: nothing
        # @param mine [Object, nil] what it leaves
        # @param now [Object, nil] what other requests have left since
        # @return [Object, nil]
        def merge(before, mine, now)
          return mine if now == before
          return now if mine == before || mine == now
          return mine || now unless [before, mine, now].all? { |one| one.nil? || one.is_a?(Hash) }

          merge_each(before.to_h, mine.to_h, now.to_h)
        end

        private

        def merge_each(before, mine, now)
          keys = now.keys | mine.keys
          keys.to_h { |key| [key, merge(before[key], mine[key], now[key])] }.compact
        end
      end
    end

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
