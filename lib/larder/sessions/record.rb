# frozen_string_literal: true

# Owns the bytes that a session is kept as: when it began, when it was last used, whose it is, and its values. Knows
# neither stores nor serializers.

module Larder
  module Sessions
    # One session as it is kept, read from its bytes as far as it is asked about.
    #
    #   0   version (8)   1
    #   1   flags (8)     bit 0: its user was bound, not found in its values; bit 1: it was moved
    #   2   began (40)    Unix seconds
    #   7   used (40)     Unix seconds, to a minute or so
    #   12  user (8)      bytes of the user's name, 0: nobody is signed in
    #   13  user, values  the latter as the format of the store makes them
    class Record
      VERSION = 1
      FLAGS = 1
      BEGAN = 2
      USED = 7
      USER = 12
      HEADER = 13
      BOUND = 1
      MOVED = 2
      private_constant :VERSION, :FLAGS, :BEGAN, :USED, :USER, :HEADER, :BOUND, :MOVED

      # @return [String] bytes
      attr_reader :to_bytes

      # @param bytes [String]
      # @return [Record, nil] nil: not one of this version
      def self.parse(bytes)
        return unless bytes.getbyte(0) == VERSION && bytes.bytesize >= HEADER

        new(bytes) if bytes.bytesize >= HEADER + bytes.getbyte(USER)
      end

      # @param began [Integer] Unix seconds
      # @param used [Integer] Unix seconds
      # @param values [String]
      # @param user [String, nil] of {Identity::MAX} bytes at most
      # @param bound [Boolean]
      # @param moved [Boolean] see {#moved?}
      # @return [Record]
      def self.of(began:, used:, values:, user: nil, bound: false, moved: false)
        name = user.to_s
        flags = (bound ? BOUND : 0) | (moved ? MOVED : 0)
        new([VERSION, flags, began >> 32, began & 0xffffffff, used >> 32, used & 0xffffffff, name.bytesize, name,
             values].pack("CCCNCNCa*a*"))
      end

      private_class_method :new

      def initialize(bytes)
        @to_bytes = bytes
      end

      # @return [Integer] Unix seconds at which it began
      def began
        seconds(BEGAN)
      end

      # @return [Integer] Unix seconds at which it was last written or used; later uses may have gone unwritten
      def used
        @used ||= seconds(USED)
      end

      # @return [String, nil] who is signed in, see {Identity}
      def user
        return @user if defined?(@user)

        length = @to_bytes.getbyte(USER)
        @user = (@to_bytes.byteslice(HEADER, length).force_encoding(Encoding::UTF_8) if length.positive?)
      end

      # @return [Boolean] is anybody signed in?
      def user?
        @to_bytes.getbyte(USER).positive?
      end

      # @return [Boolean] was its user bound rather than found in its values?
      def bound?
        @to_bytes.getbyte(FLAGS).anybits?(BOUND)
      end

      # @return [Boolean] does it go on under another key, and is nothing here any more?
      def moved?
        @to_bytes.getbyte(FLAGS).anybits?(MOVED)
      end

      # @return [String] its values
      def values
        @values ||= @to_bytes.byteslice(HEADER + @to_bytes.getbyte(USER), @to_bytes.bytesize)
      end

      # @param used [Integer] Unix seconds
      # @param values [String]
      # @param user [String, nil]
      # @param bound [Boolean]
      # @param began [Integer] Unix seconds
      # @return [Record] the same session, later
      def with(used:, values: self.values, user: self.user, bound: bound?, began: self.began)
        self.class.of(began: began, used: used, values: values, user: user, bound: bound)
      end

      # @param now [Integer] Unix seconds
      # @return [Record] what stays for a moment of a session that goes on under another key
      def moved(now)
        self.class.of(began: began, used: now, values: "", moved: true)
      end

      private

      def seconds(at)
        (@to_bytes.getbyte(at) << 32) | @to_bytes.unpack1("N", offset: at + 1)
      end
    end
  end
end
