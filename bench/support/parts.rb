# frozen_string_literal: true

# The contents page of bench/run: which parts there are, and what each runs in short and at length. A part is one
# interleaved run of its contenders, so figures of one part may be compared with each other.

require "tmpdir"
require_relative "monitors"
require_relative "programs"
require_relative "stores"
require_relative "watched"

module Bench
  # Named parts; each answers figures.
  module Parts
    # name => what it measures, for --help
    ALL = {
      **Stores::PARTS.transform_values(&:about),
      "monitors" => Monitors::ABOUT,
      "watched" => Watched::ABOUT,
      "engine" => "get, get_multi and set, compared with a bare loop and LMDB",
      "processes" => "one process compared with two, three and four; pages that reads dirty",
      "cold" => "sets into pages that are new, written back or hot, with memcpy and pwrite(2)",
      "limited" => "sets with memory for a part of the file, with appends (root)",
      "tails-disk" => "slowest sets and gets of 1 and 4 processes and of a bare append, in the directory for files",
      "tails-memory" => "the same in /dev/shm",
      "values" => "1 MiB values in C compared with memcpy, small ones at the same time",
      "attach" => "opening a warm file of 1 GiB; the first get there, and in a forked child",
      "density" => "bytes an object takes beyond key and value",
      "many" => "40 GiB with 100 million items and 32 processes; an hour, only by its name",
      "overwrites" => "live items and appended bytes while keys are stored again and again",
      "misses" => "eviction: misses on traces of requests (--traces), compared with LRU and Belady",
      "misses-fixed" => "the same on the first trace, at 512 and 1024 MiB",
      "misses-few" => "the same in caches of 200 and 1,000 objects of 100 KB, each in several files"
    }.freeze

    # Measured only if they are named.
    NAMED = ["many"].freeze

    # Where files are that shall not touch a disk.
    MEMORY = "/dev/shm"

    # Options of the programs of engine/bench: quick, full.
    ENGINE = {
      "processes" => [["--rounds", "3", "--seconds", "0.1"], ["--rounds", "9", "--seconds", "0.5"]],
      "cold" => [["--rounds", "1"], ["--rounds", "5"]],
      "limited" => [["--rounds", "1", "--seconds", "0.5"], ["--rounds", "5", "--seconds", "3"]],
      "tails" => [["--rounds", "3", "--seconds", "0.5"], ["--rounds", "9", "--seconds", "2"]],
      "large" => [["--rounds", "3", "--seconds", "0.1"], ["--rounds", "9", "--seconds", "0.5"]],
      "attach" => [["--rounds", "3"], ["--rounds", "15"]],
      "density" => [[], []],
      "many" => [["--rounds", "3", "--seconds", "1", "--gib", "1"], ["--rounds", "9", "--seconds", "5"]],
      "overwrites" => [[], []]
    }.freeze

    # Needs root, who may make control groups.
    OF_ROOT = ["limited"].freeze

    # Rounds of engine/bench/bench.c.
    ROUNDS = { quick: 3, full: 9 }.freeze

    # Options of larder-lab hitratio.
    SIZES = { "misses" => ["--size", "1%,5%,10%,20%"], "misses-fixed" => ["--size", "512MiB,1GiB"],
              "misses-few" => ["--size", "200x100KB,1000x100KB"] }.freeze

    # Files, and so seeds of the hashes, in which each trace is replayed by misses-few.
    FILES = { quick: 2, full: 10 }.freeze

    # What came of a part.
    Result = Struct.new(:figures, :circumstances)

    module_function

    # @param name [String] key of ALL
    # @param mode [Symbol] :quick or :full
    # @param directory [String] for files
    # @param traces [Array<String>] files of requests
    # @return [Bench::Parts::Result]
    def run(name, mode, directory, traces)
      return Result.new(*Stores.run(name, mode, directory)) if Stores::PARTS.key?(name)
      return misses(name, mode, traces) if SIZES.key?(name)

      figures = case name
                when "monitors" then Monitors.run(mode, directory)
                when "watched" then Watched.run(mode, directory)
                when "engine" then Programs.engine_table("--rounds", ROUNDS.fetch(mode).to_s, "--directory", directory)
                when "tails-disk" then engine("tails", mode, directory)
                when "tails-memory" then engine("tails", mode, MEMORY)
                when "values" then engine("large", mode, directory)
                else engine(name, mode, directory)
                end
      raise Failed, "part #{name} printed no figures" if figures.empty?

      Result.new(figures, {})
    end

    def engine(program, mode, directory)
      Programs.engine(program, "--directory", directory, *ENGINE.fetch(program)[mode == :quick ? 0 : 1])
    end

    # Traces are not part of the repository.
    def misses(name, mode, traces)
      chosen = name == "misses-fixed" ? traces.first(1) : traces
      files = name == "misses-few" ? FILES.fetch(mode) : 1
      Result.new(Programs.hitratio(files, *chosen, *SIZES.fetch(name), "--policy", "larder,lru,s3fifo,belady"), {})
    end

    private_class_method :engine, :misses
  end
end
