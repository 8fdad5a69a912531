# frozen_string_literal: true

# Reads the lcov format that llvm-cov exports: how often each line and branch of a file was reached.

module Proof
  # One source file's lines and branches.
  class Traces
    # @param text [String] of `llvm-cov export -format=lcov`
    # @return [Array<Traces>] one a file
    def self.parse(text)
      text.split("end_of_record").filter_map do |record|
        path = record[/^SF:(.*)$/, 1]
        new(path, record) if path
      end
    end

    # @param path [String]
    # @param record [String]
    def initialize(path, record)
      @path = path
      @lines = record.scan(/^DA:(\d+),(\d+)/).to_h { |line, count| [Integer(line), Integer(count)] }
      @branches = record.scan(/^BRDA:(\d+),(\d+),(\d+),(\d+|-)/).map { |line, *, count| [Integer(line), count.to_i] }
    end

    # @return [Integer]
    def lines
      @lines.size
    end

    # @return [Integer]
    def reached_lines
      @lines.count { |_, count| count.positive? }
    end

    # @return [Integer]
    def branches
      @branches.size
    end

    # @return [Integer]
    def reached_branches
      @branches.count { |_, count| count.positive? }
    end

    # @return [Hash{Symbol => Object}] how many were not reached, of how many
    def gaps
      { name: File.basename(@path), lines: lines - reached_lines, all_lines: lines,
        branches: branches - reached_branches, all_branches: branches }
    end

    # @return [Array<String>] "file:line: code" of each line that was not reached, or of which a branch was not
    def unreached
      source = File.readlines(@path, chomp: true)
      missed = @branches.select { |_, count| count.zero? }.map(&:first).tally
      (@lines.select { |_, count| count.zero? }.keys | missed.keys).sort.map do |line|
        what = @lines[line]&.zero? ? "line" : "#{missed[line]} of its branches"
        "#{File.basename(@path)}:#{line}: #{what}: #{source[line - 1]&.strip}"
      end
    end
  end
end
