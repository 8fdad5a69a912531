# frozen_string_literal: true

# The ledger of a soak in Ruby: words that all of its processes share outside of the cache. engine/soak/book.h describes
# its bytes; engine/soak/book.c, loaded here, changes its words atomically and assigns its slots.

require "fiddle"

module Soak
  # Shared words, slots and rows.
  class Book
    # Words that concern everyone.
    CLEARED = 1
    RESTING = 2
    ENDING = 3
    WRONG = 4
    FORKS = 5
    HOSTILE = 6
    VERIFIES = 7
    CLEARS = 8
    REOPENED = 9
    LOCKED_OUT = 10
    EXECS = 11
    STOPPED_AT = 12
    FIRST_SLOT = 64

    # Words of a slot.
    PID = 0
    STARTED = 1
    BEAT = 2
    RESTS = 3
    CALLS = 4
    FOUND = 5
    MISSED = 6
    REFUSED = 7
    LOST = 8
    SLOT_WORDS = 16

    # Rows of a slot.
    BYTE_KEYS = 32
    RAILS_KEYS = 32
    COUNTERS = 4
    RAILS = BYTE_KEYS
    BYTE_COUNTERS = BYTE_KEYS + RAILS_KEYS
    RAILS_COUNTERS = BYTE_COUNTERS + COUNTERS
    ROWS = RAILS_COUNTERS + COUNTERS
    SLOTS = 48
    FIRST_ROW = FIRST_SLOT + (SLOTS * SLOT_WORDS)
    ROW_WORDS = 4

    # How long a process may still read in a file that was removed by hand.
    GRACE_NS = 3_000_000_000

    class << self
      # @return [Integer] the clock of stamps, in nanoseconds
      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      end
    end

    # @return [String]
    attr_reader :path

    # @param library [String] what engine/soak/book.c was built into
    # @param path [String] the book, made where it is missing
    def initialize(library, path)
      @library = Fiddle.dlopen(library)
      @path = path
      @load = function("soak_load", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT], Fiddle::TYPE_LONG_LONG)
      @store = function("soak_store", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_LONG_LONG])
      @add = function("soak_add", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_LONG_LONG],
                      Fiddle::TYPE_LONG_LONG)
      @raise = function("soak_raise", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_LONG_LONG])
      @claim = function("soak_claim", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_INT], Fiddle::TYPE_INT)
      @release = function("soak_release", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_INT])
      map
    end

    # @param word [Integer]
    # @return [Integer]
    def [](word)
      @load.call(@words, word)
    end

    # @param word [Integer]
    # @param value [Integer]
    def []=(word, value)
      @store.call(@words, word, value)
    end

    # @return [Integer] the sum
    def add(word, value = 1)
      @add.call(@words, word, value)
    end

    # Sets the word where `value` is more than it has.
    def raise_to(word, value)
      @raise.call(@words, word, value)
    end

    # @param random [Random]
    # @return [Integer, nil] a slot that this process has from now on; nil: all are taken
    def claim(random)
      first = random.rand(SLOTS)
      SLOTS.times do |offset|
        slot = (first + offset) % SLOTS
        return slot if @claim.call(@words, @descriptor, slot) == 1
      end
      nil
    end

    # Gives memory that malloc keeps back to the kernel.
    def trim
      function("soak_trim", []).call
    end

    # @param slot [Integer]
    def release(slot)
      @release.call(@words, @descriptor, slot)
    end

    # The kernel kills this process when its parent ends.
    def end_with_parent
      function("soak_end_with_parent", [], Fiddle::TYPE_INT).call
    end

    # Descendants whose parent ends become children of this process.
    def adopt_orphans
      function("soak_adopt_orphans", [], Fiddle::TYPE_INT).call
    end

    # @return [Integer] where a slot begins
    def slot(number)
      FIRST_SLOT + (number * SLOT_WORDS)
    end

    # @return [Integer] where a row begins
    def row(slot, row)
      FIRST_ROW + (((slot * ROWS) + row) * ROW_WORDS)
    end

    # @param word [Integer] of a slot
    # @return [Integer] of all slots together
    def sum(word)
      SLOTS.times.sum { |number| self[slot(number) + word] }
    end

    # @return [Boolean]
    def resting?
      self[RESTING] == 1
    end

    # @return [Boolean]
    def ending?
      self[ENDING] == 1
    end

    # @return [Boolean] was the file removed or cut by hand, so shortly before that old values may be seen?
    def hostile_since?(started)
      hostile = self[HOSTILE]
      hostile.positive? && started < hostile + GRACE_NS
    end

    # Notes that something was seen that must not be.
    #
    # @param text [String]
    def wrong(text)
      File.open(wrong_path, "a", 0o600) { |file| file.syswrite("#{text.gsub("\n", " | ")[0, 2000]}\n") }
      add(WRONG)
    end

    # @return [String] the file with what was wrong, a line each
    def wrong_path
      "#{@path}.wrong"
    end

    # @return [Array<String>]
    def wrongs
      File.exist?(wrong_path) ? File.readlines(wrong_path, chomp: true) : []
    end

    private

    # The GVL is kept: an atomic is shorter than letting go of it.
    def function(name, arguments, result = Fiddle::TYPE_VOID)
      Fiddle::Function.new(@library[name], arguments, result, need_gvl: true)
    end

    def map
      descriptor = Fiddle::Pointer.malloc(Fiddle::SIZEOF_INT, Fiddle::RUBY_FREE)
      attach = function("soak_map", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOIDP)
      @words = attach.call(@path, descriptor)
      raise "cannot map #{@path}" if @words.null?

      @descriptor = descriptor[0, Fiddle::SIZEOF_INT].unpack1("i")
    end
  end
end
