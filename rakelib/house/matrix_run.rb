# frozen_string_literal: true

# Runs cells of the matrix side by side and prints their table.

require_relative "matrix"
require_relative "matrix_table"
require_relative "runner"

module House
  # One run of bin/test --matrix.
  class MatrixRun
    # @return [Array<House::Job::Result>] after #run
    attr_reader :results

    # @param cells [Array<House::MatrixCell>]
    # @param lanes [Integer] how many run at once
    # @param log_dir [String] where outputs are kept
    # @param json [Boolean] print the table as JSON, and all else to stderr
    # @param out [IO] where progress is printed
    # @param install [Boolean] bring Debian packages that cells need and lack, as root
    def initialize(cells, lanes:, log_dir:, json: false, out: json ? $stderr : $stdout, install: true)
      @cells = cells
      @lanes = lanes
      @log_dir = log_dir
      @json = json
      @out = out
      @install = install
    end

    # @return [Boolean] whether no cell failed and one at least passed
    def run
      MatrixNeeds.install(@cells.flat_map(&:needs)) if @install
      @out.puts "matrix: #{@cells.size} cells, #{@lanes} at a time"
      @results = Runner.new(@cells.map(&:job), lanes: @lanes, log_dir: @log_dir, out: @out).run
      table = MatrixTable.new(@cells, @results)
      (@json ? $stdout : @out).puts "", @json ? table.json : table.text
      @results.none?(&:failed?) && @results.any? { |result| result.counts.passed.positive? }
    end
  end
end
