# frozen_string_literal: true

require "test_helper"
require "json"
require "minitest/mock"
require "stringio"
require_relative "../../rakelib/house/matrix_run"

module House
  # The matrix: which cells there are, how they are chosen, and what its table says.
  class MatrixTest < ActiveSupport::TestCase
    test "cells have names of their own, and files that they run are there" do
      cells = Matrix.new.cells
      assert_equal cells.map(&:name).uniq, cells.map(&:name)
      files = cells.flat_map { |cell| cell.job.argv.grep(%r{\A(?:bin|rakelib|test)/}) }
      assert_empty(files.uniq.reject { |file| File.exist?(File.join(ROOT, file)) })
    end

    test "every Rails has a cell" do
      assert_equal Environment::GEMFILES.keys.map { |rails| "rails-#{rails}" }, names_of("rails")
    end

    test "cells are chosen by name or by what their names begin with, each once" do
      assert_equal ["rails-7.1"], names_of("rails-7.1")
      assert_equal %w[gcc-O0 gcc-O1 gcc-O2 gcc-O3 gcc-Os gcc-lto gcc-asan gcc-tsan], names_of("gcc", "gcc-O0")
      assert_raises(Larder::CLI::UsageError) { Matrix.new.choose(["O0"]) }
    end

    test "a run of chosen tests compiles just these" do
      cell = Matrix.new(tests: ["crc_test", "get_test"]).choose(["gcc-O1"]).first
      assert_includes cell.job.argv, "TESTS=test/crc_test.c test/get_test.c"
    end

    test "tests that a cell leaves out are there" do
      Matrix::WITHOUT.each_value do |tests|
        tests.each_key { |name| assert_path_exists File.join(ROOT, "engine/test/#{name}.c") }
      end
    end

    test "a need that is not met is named with its packages" do
      MatrixNeeds.stub(:met?, false) do
        assert_equal "needs valgrind, libc6-dbg (Debian packages)", MatrixNeeds.describe([:valgrind])
        cell = MatrixCell.new("x", {}, ["true"], needs: [:valgrind])
        assert_match(/valgrind/, cell.job.missing)
      end
      assert_nil MatrixNeeds.describe([])
    end

    test "the table has a row for each cell, and says which failed or were skipped, and why" do
      assert_equal <<~TEXT.chomp, table.text.gsub(/ +$/, "")
        cell  stack  compiler  level  under  result   passed  failed  skipped  seconds
        good         gcc       O2            passed        3       0        1       12
        bad   Rails                          FAILED        0       1        0        2
        gone                                 skipped                                 0

        Skipped:
          gone: needs much

        1 cells passed, 1 failed, 1 skipped; 3 tests passed
      TEXT
    end

    test "machines get the same" do
      bad = JSON.parse(table.json).fetch("cells")[1]
      assert_equal({ "name" => "bad", "stack" => "Rails", "result" => "FAILED", "passed" => 0, "failed" => 1,
                     "skipped" => 0, "seconds" => 2.0, "note" => "exit status 1" }, bad)
    end

    private

    def names_of(*names)
      Matrix.new.choose(names).map(&:name)
    end

    def table
      cells = { "good" => { compiler: "gcc", level: "O2" }, "bad" => { stack: "Rails" }, "gone" => {} }
              .map { |name, facts| MatrixCell.new(name, facts, ["true"]) }
      outcomes = [[Counts.new(3, 0, 1), 12.2, 0.5, nil, "log"], [Counts.new(0, 1, 0), 2, 0.5, "exit status 1", "log"],
                  [Counts.new(0, 0, 1), 0, 0.0, "needs much", nil]]
      MatrixTable.new(cells, cells.zip(outcomes).map { |cell, outcome| Job::Result.new(cell.job, *outcome) })
    end
  end
end
