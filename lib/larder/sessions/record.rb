# frozen_string_literal: true

# The bytes of a stored session: when it began, when it was last used, its users and its values.

require "securerandom"
require_relative "errors"

module Larder
  module Sessions
    # A stored session. Fields are read from its bytes when they are asked for.
    #
    #   0   version (8)   4
    #   1   flags (8)     bit 0: it was moved; bit 1: its cookie is awaited; bit 2: it has a lifetime of its own
    #   2   began (40)    Unix seconds
    #   7   used (40)     Unix seconds, to a minute or so
    #   12  users (8)     how many, 0: anonymous
    #   13  bound (8)     how many of them, the first, were bound rather than found in its values
    #   14  life (32)     seconds that it may be idle, if a request has said so
    #   18  epoch (40)    the number under which its users signed in, see Logouts
    #   23  each user     bytes of the name (8), the name
    #       values        as the format of the store makes them
    class Record
      VERSION = 4
      FLAGS = 1
      BEGAN = 2
      USED = 7
      USERS = 12
      BOUND = 13
      LIFE = 14
      EPOCH = 18
      HEADER = 23
      MOVED = 1
      AWAITED = 2
      OWN_LIFE = 4
      # The most users of a session.
      MANY = 255
      # Random bytes of a session that was moved.
      NONCE = 8
      private_constant :VERSION, :FLAGS, :BEGAN, :USED, :USERS, :BOUND, :LIFE, :EPOCH, :HEADER, :MOVED, :AWAITED,
                       :OWN_LIFE, :MANY, :NONCE

      # @return [String] bytes
      attr_reader :to_bytes

      # @param bytes [String]
      # @return [Record, nil] nil: not one of this version
      def self.parse(bytes)
        return unless bytes.getbyte(0) == VERSION && bytes.bytesize >= HEADER

        at = HEADER
        users = bytes.getbyte(USERS)
        while users.positive?
          length = bytes.getbyte(at)
          return if length.nil?

          at += 1 + length
          users -= 1
        end
        new(bytes, at) if bytes.bytesize >= at
      end

      # @param began [Integer] Unix seconds
      # @param used [Integer] Unix seconds
      # @param values [String]
      # @param users [Array<String>] names of {Identity::MAX} bytes at most
      # @param bound [Array<String>] those who were bound, before the others
      # @param life [Integer, nil] see {#life}
      # @param epoch [Integer] see {#epoch}
      # @param moved [Boolean] see {#moved?}
      # @param awaited [Boolean] see {#awaited?}
      # @return [Record]
      # @raise [InvalidArgument]
      def self.of(began:, used:, values:, users: [], bound: [], life: nil, epoch: 0, moved: false, awaited: false)
        users = bound | users
        raise InvalidArgument, "a session of #{users.size} users: #{MANY} at most" if users.size > MANY

        flags = (moved ? MOVED : 0) | (life ? OWN_LIFE : 0) | (awaited ? AWAITED : 0)
        head = [VERSION, flags, began >> 32, began & 0xffffffff, used >> 32, used & 0xffffffff, users.size,
                bound.size, life || 0, epoch >> 32, epoch & 0xffffffff].pack("CCCNCNCCNCN")
        users.each { |name| head << [name.bytesize].pack("C") << name.b }
        new(head + values.b, head.bytesize)
      end

      private_class_method :new

      def initialize(bytes, values_at)
        @to_bytes = bytes
        @values_at = values_at
      end

      # @return [Integer] Unix seconds at which it began
      def began
        seconds(BEGAN)
      end

      # @return [Integer] Unix seconds at which it was last written or used; later uses may have gone unwritten
      def used
        @used ||= seconds(USED)
      end

      # @return [Array<String>] who is signed in, see {Identity}: first who was bound
      def users
        @users ||= names
      end

      # @return [Boolean] is anybody signed in?
      def user?
        @to_bytes.getbyte(USERS).positive?
      end

      # @return [Array<String>] those of its users who were bound rather than found in its values
      def bound
        users.first(@to_bytes.getbyte(BOUND))
      end

      # @return [Integer, nil] seconds that it may be idle, as a request has said; nil: what is configured
      def life
        @to_bytes.unpack1("N", offset: LIFE) if @to_bytes.getbyte(FLAGS) >= OWN_LIFE
      end

      # @return [Integer] the number of the last logout of all users that came before its own signed in, see {Logouts}
      def epoch
        seconds(EPOCH)
      end

      # @return [Boolean] has it got another key, and is this what was left under the old one?
      def moved?
        @to_bytes.getbyte(FLAGS).anybits?(MOVED)
      end

      # @return [Boolean] was it moved here from another store, and has no request brought its own cookie yet?
      def awaited?
        @to_bytes.getbyte(FLAGS).anybits?(AWAITED)
      end

      # @return [String] its values
      def values
        @values ||= @to_bytes.byteslice(@values_at, @to_bytes.bytesize)
      end

      # @param used [Integer] Unix seconds
      # @param values [String]
      # @param users [Array<String>]
      # @param bound [Array<String>]
      # @param began [Integer] Unix seconds
      # @param life [Integer, nil]
      # @param epoch [Integer]
      # @param awaited [Boolean]
      # @return [Record] the same session, later
      def with(used:, values: self.values, users: self.users, bound: self.bound, began: self.began, life: self.life,
               epoch: self.epoch, awaited: awaited?)
        self.class.of(began: began, used: used, values: values, users: users, bound: bound, life: life,
                      epoch: epoch, awaited: awaited)
      end

      # @param now [Integer] Unix seconds
      # @return [Record] what is stored under the old key for a moment, unlike that of any other request
      def moved(now)
        self.class.of(began: began, used: now, values: SecureRandom.bytes(NONCE), moved: true)
      end

      private

      def names
        at = HEADER
        Array.new(@to_bytes.getbyte(USERS)) do
          length = @to_bytes.getbyte(at)
          at += 1 + length
          @to_bytes.byteslice(at - length, length).force_encoding(Encoding::UTF_8)
        end
      end

      def seconds(at)
        (@to_bytes.getbyte(at) << 32) | @to_bytes.unpack1("N", offset: at + 1)
      end
    end
  end
end
