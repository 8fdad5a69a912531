# frozen_string_literal: true

# Owns what the file of sessions says about its application, for programs that have the file alone: how long sessions
# live, and whether a store has copies. Of the other options none changes what such a program finds or ends.

require "json"
require_relative "pinning"
require_relative "lifetimes"

module Larder
  module Sessions
    # An entry of the file, which the application's middleware writes at its first use, and again where it was lost.
    class Settings
      # Where they are kept.
      KEY = "settings"
      # Seconds between two looks whether they are still there.
      EVERY = 60
      private_constant :KEY, :EVERY

      # @return [Lifetimes]
      attr_reader :lifetimes
      # @return [String, nil] the class of the store behind the file, nil: there is none
      attr_reader :backed_by

      # @param repository [Repository] the application's
      # @return [Settings]
      def self.of(repository)
        new(lifetimes: repository.lifetimes, backed_by: repository.backend.behind)
      end

      # @param cache [Cache]
      # @return [Settings, nil] nil: the file is not one of sessions, or no application has used it yet
      def self.read(cache)
        options = JSON.parse(cache.get(KEY) || "null")
        return unless options.is_a?(Hash)

        idle, anonymous, max = options.values_at("idle_timeout", "anonymous_timeout", "max_lifetime")
        new(lifetimes: Lifetimes.new(idle: idle, anonymous: anonymous, max: max), backed_by: options["backed_by"])
      rescue JSON::ParserError
        nil
      end

      # @param lifetimes [Lifetimes]
      # @param backed_by [String, nil]
      def initialize(lifetimes:, backed_by: nil)
        @lifetimes = lifetimes
        @backed_by = backed_by
        @looked = -Float::INFINITY
      end

      # Writes them where the file says anything else.
      #
      # @param cache [Cache]
      # @return [void]
      def write(cache)
        store(cache, :set) unless cache.get(KEY) == bytes
      end

      # Writes them again, once in a minute at most, where the file says nothing: it was made anew meanwhile.
      #
      # @param cache [Cache]
      # @param now [Integer] seconds of any clock
      # @return [void]
      def keep(cache, now)
        return if now < @looked + EVERY

        @looked = now
        store(cache, :add)
      end

      # @return [Hash{Symbol => Numeric, String, nil}] as users type them
      def to_h
        { idle_timeout: lifetimes.idle, anonymous_timeout: lifetimes.anonymous, max_lifetime: lifetimes.max,
          backed_by: backed_by }
      end

      private

      def bytes
        @bytes ||= JSON.generate(to_h).b.freeze
      end

      def store(cache, how)
        Pinning.as_room_allows { |pin| cache.public_send(how, KEY, bytes, pin: pin) }
      end
    end
  end
end
