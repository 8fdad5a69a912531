# frozen_string_literal: true

# Compares the results of one group of tests on both sides.

module Foreign
  # Two runs of the same tests.
  class Comparison
    # A test whose result differs; a result is nil where the test did not run.
    Difference = Struct.new(:test, :default, :larder, :message)

    # @return [String] the group
    attr_reader :group

    # @param group [String]
    # @param default [Hash{String => Hash}] results on the application's own store, see Suite
    # @param larder [Hash{String => Hash}] the same on Larder
    def initialize(group, default, larder)
      @group = group
      @default = default
      @larder = larder
    end

    # @return [Integer] tests that ran on both sides
    def tests
      (@default.keys & @larder.keys).size
    end

    # @param side [Symbol] :default or :larder
    # @return [Integer] tests that did not pass there; skipped ones are not counted
    def failures(side)
      results(side).count { |_, result| ["failed", "error"].include?(result["result"]) }
    end

    # @param side [Symbol]
    # @return [Integer]
    def skipped(side)
      results(side).count { |_, result| result["result"] == "skipped" }
    end

    # @return [Array<Difference>] by test
    def differences
      (@default.keys | @larder.keys).sort.filter_map do |test|
        mine = @default.dig(test, "result")
        its = @larder.dig(test, "result")
        next if mine == its

        message = [@larder, @default].filter_map { |all| all.dig(test, "message") }.find { |text| !text.empty? }
        Difference.new(test, mine, its, message.to_s)
      end
    end

    # Whether a difference stays when the tests that differ run again.
    #
    # @param other [Comparison] of the second run
    # @return [Array<Difference>] those that differ in both runs
    def confirmed(other)
      again = other.differences.to_h { |one| [one.test, one] }
      differences.select { |one| again.key?(one.test) }
    end

    # @return [String] a line for the table
    def line
      format("%-12s %6d tests, failures %d on its own store, %d on Larder, %d differ", group, tests, failures(:default),
             failures(:larder), differences.size)
    end

    private

    def results(side)
      { default: @default, larder: @larder }.fetch(side)
    end
  end
end
