# frozen_string_literal: true

# One of a user's sessions, as an application may show it.

require "time"

module Larder
  module Sessions
    # A session in which somebody is signed in. Its key and its id stay hidden.
    class Info
      # @return [String] names it for {Sessions.revoke}; safe to show to its user
      attr_reader :handle

      # @param handle [String]
      # @param record [Record]
      # @param format [#load] of its values
      def initialize(handle:, record:, format:)
        @handle = handle
        @record = record
        @format = format
      end

      # @return [String] see {Identity}; of several the first
      def user
        users.first
      end

      # @return [Array<String>] all who are signed in in it
      def users
        @record.users
      end

      # @return [Time] when it began
      def began_at
        Time.at(@record.began)
      end

      # @return [Time] when it was last used, to a minute
      def used_at
        Time.at(@record.used)
      end

      # @param key [String, Symbol]
      # @return [Object, nil] what the session has under that key
      # @raise [UnreadableError]
      def [](key)
        (@values ||= @format.load(@record.values))[key.to_s]
      end

      # @return [Hash{Symbol => String, Array<String>}]
      def to_h
        { handle: handle, user: user, users: users, began_at: began_at.utc.iso8601, used_at: used_at.utc.iso8601 }
      end

      # @return [String] without its values
      def inspect
        "#<#{self.class} #{handle} began #{began_at} used #{used_at}>"
      end
    end
  end
end
