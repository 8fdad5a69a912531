# frozen_string_literal: true

# Compares what a lookup found with the ledger: the rules of what may be seen. Stores nothing.

require_relative "book"
require_relative "value"

module Soak
  # Taken before a lookup of one key, asked after it.
  class Watch
    # A value says when it expires before it is stored, and its time begins when it is: meanwhile its owner may have
    # been stopped (Chaos, up to 2.5 s) and found a busy machine.
    SLACK_MS = 5000

    class << self
      # @return [Integer] Unix time
      def unix_ms
        Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
      end

      # @return [Integer] what a value says of whose it is
      def number(slot, row)
        (slot * 1000) + row
      end
    end

    # @param book [Book]
    # @param slot [Integer] of the key's owner
    # @param row [Integer]
    def initialize(book, slot, row)
      @book = book
      @slot = slot
      @row = row
      @base = book.row(slot, row)
      @started = Book.now
      @asked_ms = Watch.unix_ms
      @cleared = book[Book::CLEARED]
      @acked = book[@base + 1]
      @acked_at = book[@base + 2]
      @steady = book[@base + 1] == @acked
    end

    # @param name [String] the key
    # @param value [Object] what was found
    # @return [Integer, nil] the stamp; nil: it is no value of this key
    def judge(name, value)
      said = Value.read(value)
      if said.nil? || said.number != Watch.number(@slot, @row)
        @book.wrong("#{name}: #{Watch.portrait(value)} is no value of this key")
        return
      end
      problem = problem_of(said)
      @book.wrong("#{name}: #{problem}") if problem && !@book.hostile_since?(@started)
      said.stamp
    end

    # @return [String] of a value that is wrong, short
    def self.portrait(value)
      value.is_a?(String) ? "#{value.bytesize} bytes (#{value.byteslice(0, 40).unpack1("H*")}…)" : value.inspect[0, 200]
    end

    private

    def problem_of(said)
      begun = @book[@base]
      if said.stamp > begun then "stamp #{said.stamp} was not begun (#{begun})"
      elsif said.stamp < @acked then "stamp #{said.stamp} is older than the acknowledged #{@acked}"
      elsif @steady && said.stamp == @acked && @acked_at < @cleared
        "stamp #{said.stamp}, acknowledged at #{@acked_at}, outlived a clear at #{@cleared}"
      elsif said.expires_at_ms.positive? && said.expires_at_ms + SLACK_MS < @asked_ms
        "expired #{@asked_ms - said.expires_at_ms} ms before it was asked for"
      end
    end
  end
end
