# frozen_string_literal: true

# Owns the errors of sessions: one class per thing an application would do differently.

require "shellwords"
require_relative "../../larder"

module Larder
  module Sessions
    # What Larder raises about sessions.
    class Error < Larder::Error; end

    # Bytes of a session that its serializer cannot read.
    class UnreadableError < Error; end

    # A question that cannot be answered where sessions are kept.
    class UnsupportedError < Error; end

    # A session that is too long to be kept.
    class TooLongError < Error
      # @param bytes [Integer]
      # @param max [Integer]
      def initialize(bytes, max)
        super("a session of #{bytes} bytes is longer than the #{max} that a file of this size keeps for those who " \
              "are signed in: keep less in it, and what is large in the database or the cache")
      end
    end

    # A file of Larder's that does not say how sessions live in it, see {Settings}.
    class NoSettingsError < Error
      # @param path [String]
      def initialize(path)
        super("#{path} tells nothing about sessions. It is another cache's file, or the application has not used it " \
              "since it was made: start the application, and open a page that has a session")
      end
    end

    # The store behind a file has answered too late. Reported once an outage; the file goes on without it.
    class SlowStoreError < Error
      # @param store [String] its class
      # @param seconds [Float] that a call, or those of a request, have taken
      def initialize(store, seconds)
        super("#{store}, which has copies of the sessions, took more than #{seconds.floor(1)} s. It is left out for " \
              "some seconds, and told later what was ended or changed: see that it answers, or lower its timeouts")
      end
    end

    # The file is full of sessions that must not be evicted. Raised in the request that signs in, or whose change of a
    # signed-in session could not be kept: it is answered by 503, or by the option on_full:.
    class NoRoomError < Error
      # @param backend [#to_s] where sessions are kept
      def initialize(backend)
        mend = ": #{Enlarging.command(backend.cache)}" if backend.respond_to?(:cache)
        super("#{backend} is full of signed-in sessions, and one could not be kept. Give it a larger size:#{mend}, " \
              "or let sessions end earlier (idle_timeout:, max_lifetime:, per_user:)")
      end
    end

    # The file will soon be full of sessions that must not be evicted. Reported, and never raised.
    class NoRoomSoonError < Error
      # @param cache [Cache]
      # @param share [Float] of the pinned room that is taken
      def initialize(cache, share)
        super("#{cache.path} has #{(share * 100).floor} % of its room for signed-in sessions taken, and refuses " \
              "sign-ins from #{(Room::LIMIT * 100).round} % on. Give it a larger size:: " \
              "#{Enlarging.command(cache)}, or let sessions end earlier (idle_timeout:, max_lifetime:, per_user:)")
      end
    end

    # The command that mends a file which is short of room.
    module Enlarging
      # @param cache [Cache]
      # @return [String] as a shell takes it; the application must be stopped meanwhile
      def self.command(cache)
        "larder resize --keep #{Shellwords.escape(cache.path)} #{(cache.size * 2).fdiv(1 << 20).ceil}MB"
      end
    end
  end
end
