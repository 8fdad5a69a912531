# frozen_string_literal: true

# Keeps in the file what programs that have it without the application need to know: how long sessions live, and
# whether a store has copies of them.

require "json"
require_relative "room"
require_relative "lifetimes"

module Larder
  module Sessions
    # An entry of the file, which the application's middleware writes. Other options do not change what such a program
    # finds or ends.
    class Settings
      KEY = "settings"
      private_constant :KEY

      # @return [Lifetimes]
      attr_reader :lifetimes
      # @return [String, nil] the class of the store behind the file, nil: there is none
      attr_reader :backed_by

      # @param cache [Cache]
      # @return [Settings, nil] nil: the file has no sessions, or no application has used it yet
      def self.read(cache)
        options = JSON.parse(cache.get(KEY) || "null")
        return unless options.is_a?(Hash) && options.key?("idle_timeout")

        idle, anonymous, max = options.values_at("idle_timeout", "anonymous_timeout", "max_lifetime")
        new(cache, lifetimes: Lifetimes.new(idle: idle, anonymous: anonymous, max: max),
                   backed_by: options["backed_by"])
      rescue JSON::ParserError
        nil
      end

      # @param cache [Cache]
      # @param lifetimes [Lifetimes]
      # @param backed_by [String, nil]
      def initialize(cache, lifetimes:, backed_by: nil)
        @cache = cache
        @lifetimes = lifetimes
        @backed_by = backed_by
      end

      # Writes them if the file has others, or none.
      #
      # @return [Boolean] were they written?
      def write
        bytes = JSON.generate(to_h).b
        @cache.get(KEY) != bytes && Pinning.as_room_allows { |pin| @cache.set(KEY, bytes, pin: pin) }
      end

      # Writes them if the file has none: it was emptied meanwhile.
      #
      # @return [void]
      def keep
        write unless @cache.exist?(KEY)
      end

      # @return [Hash{Symbol => Numeric, String, nil}] by the names of options
      def to_h
        { idle_timeout: lifetimes.idle, anonymous_timeout: lifetimes.anonymous, max_lifetime: lifetimes.max,
          backed_by: backed_by }
      end
    end
  end
end
