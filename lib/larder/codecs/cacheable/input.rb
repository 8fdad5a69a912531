# frozen_string_literal: true

# The bytes that Cacheable::Frame reads, part by part, with limits.

module Larder
  module Cacheable
    # Bytes that are taken one part after the other.
    # @api private
    class Input
      # Frames in frames in frames.
      MOST_DEPTH = 100
      # Bytes that rows may still have when they are decompressed, of all frames together.
      Allowance = Struct.new(:bytes)
      private_constant :MOST_DEPTH, :Allowance

      # @param bytes [String]
      # @param max_bytes [Integer] of rows when they are decompressed
      def initialize(bytes, max_bytes: nil, allowance: Allowance.new(max_bytes), depth: 0)
        @bytes = bytes
        @allowance = allowance
        @depth = depth
        @at = 0
      end

      # @param bytes [String] a part of these
      # @return [Input] of them, under the same limits
      def within(bytes)
        raise UnreadableError, "too deep (more than #{MOST_DEPTH})" if @depth >= MOST_DEPTH

        Input.new(bytes, allowance: @allowance, depth: @depth + 1)
      end

      # Before bytes of that number are made.
      def allow(size)
        raise UnreadableError, "too large (#{size} bytes)" if size > @allowance.bytes

        @allowance.bytes -= size
      end

      # @return [Integer]
      def byte
        found = @bytes.getbyte(@at) or raise UnreadableError, "truncated"
        @at += 1
        found
      end

      # @return [Integer] LEB128
      def number
        found, @at = Codecs::Frame.size_at(@bytes, @at)
        found
      end

      # @return [Integer] of parts of a byte or more
      def count
        found = number
        found <= @bytes.bytesize - @at ? found : raise(UnreadableError, "truncated")
      end

      # @return [String]
      def take(size)
        found = @bytes.byteslice(@at, size)
        raise UnreadableError, "truncated" unless found && found.bytesize == size

        @at += size
        found
      end

      # @return [String] behind its length
      def string
        take(number)
      end

      # @return [String]
      def rest
        @bytes.byteslice(@at..)
      end
    end

    # The classes of objects: `[i]` is the i-th object's.
    # @api private
    class Types
      # @return [Integer] of objects
      attr_reader :count
      # @return [Array<Class>] each once
      attr_reader :all

      def initialize(types, count, which)
        @all = types
        @count = count
        @which = which
      end

      # @return [Class]
      def [](number)
        return @all.first unless @which

        @all[@which.getbyte(number)] or raise UnreadableError, "damaged (no such class)"
      end
    end
  end
end
