# frozen_string_literal: true

# Runs the measuring programs and turns what they print into figures: the programs of engine/bench, and
# `larder-lab hitratio`; {Bench::Stores} has `larder-lab stores`. Computes nothing but quotients of what they print.

require "json"
require "open3"
require "tmpdir"
require_relative "figure"
require_relative "../../rakelib/house/environment"

module Bench
  # Runs programs and answers figures.
  module Programs
    ROOT = House::ROOT
    BUILD = File.join(ROOT, "tmp/bench/engine")

    module_function

    # A program of engine/bench that prints JSON.
    # @param name [String] of the source file
    # @param arguments [Array<String>]
    # @return [Array<Bench::Figure>]
    def engine(name, *arguments)
      output = run({}, build("bench-#{name}"), "--json", *arguments)
      output.lines.map do |line|
        fields = JSON.parse(line)
        Figure.of_rounds(fields.fetch("figure"), fields.fetch("unit"), fields.fetch("rounds"))
      end
    end

    # A line of engine/bench/bench.c: what (blank: as above), who, ns an operation, times the first contender.
    LINE = /^(.{26}) (\S.*?) +([\d.]+) ns +([\d.]+)x$/

    # The comparison with a bare loop and LMDB, which prints a table.
    # @return [Array<Bench::Figure>]
    def engine_table(*arguments)
      what = nil
      run({}, build("bench"), *arguments).scan(LINE).flat_map do |title, who, ns, times|
        what = title.strip unless title.strip.empty?
        [Figure.new(name: "#{what}: #{who}", unit: "ns", median: Float(ns)),
         Figure.new(name: "#{what}: #{who} as the first", unit: "x", median: Float(times))]
      end
    end

    # `larder-lab hitratio`: the share of requests that missed, for each trace, size and policy; and over all of them
    # how far Larder is above LRU at most, which part of the distance from LRU to Belady it covers in the mean, and how
    # far its files are apart.
    # @param files [Integer] in which Larder replays each trace; the hashes of each have a seed of their own
    # @param arguments [Array<String>]
    # @return [Array<Bench::Figure>]
    def hitratio(files, *arguments)
      misses(Array.new(files) { lab("hitratio", *arguments).dig("chapters", 0, "details", "rows") })
    end

    # @param runs [Array<Array<Hash>>] the rows of each report, as Larder::Lab::Hitratio::Row has them
    # @return [Array<Bench::Figure>]
    def misses(runs)
      rows = runs.transpose
      [*rows.flat_map { |row| miss_figures(row) }, *over_all(rows)]
    end

    # @param command [String] of larder-lab
    # @param arguments [Array<String>]
    # @return [Hash] its report
    def lab(command, *arguments)
      Dir.mktmpdir("larder-bench") do |directory|
        file = File.join(directory, "run.json")
        run(House::Environment.variables(House::Environment.lab_gemfile), "bundle", "exec", "lab/exe/larder-lab",
            command, "--json", file, *arguments)
        JSON.parse(File.read(file, encoding: "UTF-8"))
      end
    end

    # All runs of a simulation are the same.
    def miss_figures(row)
      row.first["misses"].keys.map do |policy|
        name = "#{row.first["trace"]}, #{row.first["size"]}: #{policy}"
        Figure.of_rounds(name, "%", row.map { |run| 100.0 * miss_ratio(run, policy) }.uniq)
      end
    end

    def miss_ratio(run, policy) = run["misses"].fetch(policy).fdiv(run["requests"])

    def over_all(rows)
      parts = rows.flatten.filter_map { |run| to_belady(*run["misses"].values_at("larder", "lru", "belady")) }
      found = [points("larder above LRU of equal net bytes, at most",
                      rows.map { |row| row.sum { |run| above_net_lru(run) } / row.size }.max)]
      apart = rows.map { |row| row.map { |run| miss_ratio(run, "larder") }.minmax.reverse.inject(:-) }
      found << points("larder, rounds apart, at most", apart.max) if rows[0].size > 1
      return found if parts.empty?

      found << Figure.new(name: "larder on the way from LRU to Belady, mean", unit: "%",
                          median: 100.0 * parts.sum / parts.size)
    end

    def above_net_lru(run) = (run["misses"]["larder"] - run["net_misses"]).fdiv(run["requests"])

    # Nil where the two do not differ.
    def to_belady(larder, lru, belady)
      (lru - larder).fdiv(lru - belady) if belady && belady < lru
    end

    def points(name, share)
      Figure.new(name: name, unit: "points", median: 100.0 * share)
    end

    # Built as `make -C engine` builds it, apart from other builds.
    # @return [String] path of the program
    def build(name)
      run({ "MAKEFLAGS" => nil, "DEV" => nil }, "make", "--silent", "-C", File.join(ROOT, "engine"), "BUILD=#{BUILD}",
          "#{BUILD}/#{name}")
      File.join(BUILD, name)
    end

    # Progress goes to the terminal as it is. If this process is told to end, it ends the program.
    # @param environment [Hash{String => String, nil}]
    # @param command [Array<String>]
    # @return [String] what it printed
    # @raise [Bench::Failed] it did not end with success
    def run(environment, *command)
      Open3.popen2(environment, *command, chdir: ROOT) do |input, output, program|
        input.close
        printed = output.read
        next printed if program.value.success?

        raise Failed, "#{command.first(5).join(" ")} ... ended with #{program.value}\n#{printed}"
      ensure
        Process.kill(:TERM, program.pid) if program.alive?
      end
    end

    private_class_method :miss_figures, :miss_ratio, :over_all, :above_net_lru, :to_belady, :points, :build
  end
end
