# frozen_string_literal: true

# The files that the processes of the proof share beside the file of sessions: one for each group of users, with what
# the model knows of their sessions, and one with the run's flags and the workers' counts. Both remain usable if their
# writer is killed.

require "zlib"

module SessionProof
  # One object in a file, which is locked while a process works on it; the kernel drops the lock with the process. It is
  # written alternately to two halves, with a number and a checksum, so that one of them is always complete.
  class Row
    HALF = 128 << 10
    HEADER = 16

    # @param path [String] made where it is missing
    def initialize(path)
      @file = File.open(path, File::RDWR | File::CREAT | File::BINARY, 0o600)
    end

    # @yieldparam row [Row]
    # @return [Object, nil] the block's, nil: another process has it
    def try
      return unless @file.flock(File::LOCK_EX | File::LOCK_NB)

      begin
        yield self
      ensure
        @file.flock(File::LOCK_UN)
      end
    end

    # @return [Object, nil] what was written last
    def read
      newest = [0, HALF].filter_map { |at| half(at) }.max_by(&:first)
      @number = newest ? newest.first : 0
      newest && Marshal.load(newest.last)
    end

    # Call {#read} before.
    #
    # @param object [Object]
    # @return [void]
    def write(object)
      bytes = Marshal.dump(object)
      raise "a row of #{bytes.bytesize} bytes does not fit" if bytes.bytesize > HALF - HEADER

      @number += 1
      @file.pwrite([@number, bytes.bytesize, Zlib.crc32(bytes)].pack("Q<L<L<") << bytes, (@number & 1) * HALF)
    end

    private

    def half(at)
      number, size, sum = @file.pread(HEADER, at).unpack("Q<L<L<")
      return unless sum

      bytes = @file.pread(size, at + HEADER)
      [number, bytes] if bytes.bytesize == size && Zlib.crc32(bytes) == sum
    rescue EOFError
      nil
    end
  end

  # Numbers, each written by one process and read by all.
  class Board
    # Of the run: the clock, and whether to fill the file, to kill, to stop. Of the filler: whether the file is full,
    # and whether its sessions are in the file.
    PLACES = %i[clock fill kill stop full filled].freeze
    # By each worker.
    COUNTS = %i[operations overlaps recoveries refusals while_full evicted comparisons].freeze
    WIDTH = 16

    # @param path [String] made where it is missing
    def initialize(path)
      @file = File.open(path, File::RDWR | File::CREAT | File::BINARY, 0o600)
    end

    # @return [Integer]
    def [](place)
      numbers(PLACES.index(place), 1).first
    end

    # @return [void]
    def []=(place, number)
      @file.pwrite([number].pack("q<"), PLACES.index(place) * 8)
    end

    # @param worker [Integer]
    # @return [Hash{Symbol => Integer}]
    def counts(worker)
      COUNTS.zip(numbers((worker + 1) * WIDTH, COUNTS.size)).to_h
    end

    # @param counts [Hash{Symbol => Integer}]
    # @return [void]
    def put(worker, counts)
      @file.pwrite(counts.values_at(*COUNTS).pack("q<*"), (worker + 1) * WIDTH * 8)
    end

    private

    def numbers(at, count)
      bytes = begin
        @file.pread(count * 8, at * 8)
      rescue EOFError
        ""
      end
      numbers = bytes.unpack("q<*")
      Array.new(count) { |i| numbers[i] || 0 }
    end
  end
end
