# frozen_string_literal: true

module House
  # A line of minitest: `12 runs, 40 assertions, 0 failures, 1 errors, 2 skips`.
  MINITEST_COUNTS = /^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips$/

  # A line of the engine's tests: `shard_test: 12 tests, 1 failed`.
  ENGINE_COUNTS = /^\w[\w ,]*: (\d+) tests, (\d+) failed(?:, (\d+) skipped)?$/

  # A line of bin/test itself: `12 passed, 0 failed, 1 skipped`.
  PLAIN_COUNTS = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/

  # A skipped test in minitest's report: its name with the place, then the reason.
  MINITEST_SKIP = /^ *\d+\) Skipped:\n.*\n(.+)$/

  # The lines of an output that say why a test failed: minitest's reports, the engine's lines.
  FAILURES = /^ *\d+\) (?:Failure|Error):\n(?:.+\n)+|^.*(?: not true|not ok: |FAILED: ).*$/

  # A line that the summary repeats at the end.
  NOTE = /^@note (.+)$/

  # The jobs in the summary of another run of bin/test that passed when it retried them.
  RETRIED = /^Failed, then passed when retried alone:\n((?:  .+\n)+)/

  # How many tests passed, failed and were skipped. Reads them out of a test program's output; adds up.
  Counts = Struct.new(:passed, :failed, :skipped) do
    # @param output [String] what the program printed
    # @return [House::Counts, nil] nil where the output has no line of counts
    def self.read(output)
      lines = output.each_line(chomp: true).filter_map { |line| minitest(line) || engine(line) || plain(line) }
      lines.reduce(:+)
    end

    # @param output [String] of minitest with --show-skips
    # @return [Array<String>] why tests were skipped, one for each
    def self.skip_reasons(output)
      output.scan(MINITEST_SKIP).flatten
    end

    # @param output [String]
    # @return [Array<String>] the lines that say which tests failed and why
    def self.failures(output)
      output.scan(FAILURES).flat_map(&:lines).map(&:chomp)
    end

    # @param output [String] of bin/test
    # @return [Array<String>] lines about its jobs that passed when it retried them
    def self.retried(output)
      output.scan(RETRIED).flatten.flat_map { |lines| lines.lines(chomp: true) }.map(&:strip)
    end

    # @param output [String]
    # @return [Array<String>] what it wants to be read
    def self.notes(output)
      output.scan(NOTE).flatten
    end

    # @return [House::Counts, nil]
    def self.minitest(line)
      return unless (match = MINITEST_COUNTS.match(line))

      runs, failures, errors, skips = match.captures.map(&:to_i)
      new(runs - failures - errors - skips, failures + errors, skips)
    end

    # @return [House::Counts, nil]
    def self.engine(line)
      return unless (match = ENGINE_COUNTS.match(line))

      tests, failed, skipped = match.captures.map(&:to_i)
      new(tests - failed - skipped, failed, skipped)
    end

    # @return [House::Counts, nil]
    def self.plain(line)
      return unless (match = PLAIN_COUNTS.match(line))

      new(*match.captures.map(&:to_i))
    end

    # @return [House::Counts] nothing yet
    def self.none
      new(0, 0, 0)
    end

    def +(other)
      self.class.new(passed + other.passed, failed + other.failed, skipped + other.skipped)
    end

    # @return [String] the line that bin/test ends with
    def to_s
      "#{passed} passed, #{failed} failed, #{skipped} skipped"
    end
  end
end
