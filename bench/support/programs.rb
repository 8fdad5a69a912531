# frozen_string_literal: true

# Runs the measuring programs and turns what they print into figures: the programs of engine/bench, and
# larder-lab. Computes nothing but quotients of what they print, and of the lab's samples their medians.

require "json"
require "open3"
require "tmpdir"
require_relative "figure"
require_relative "../../lab/lib/larder/lab/statistics"
require_relative "../../rakelib/house/environment"

module Bench
  # Runs programs and answers figures.
  module Programs
    ROOT = House::ROOT
    BUILD = File.join(ROOT, "tmp/bench/engine")
    STATISTICS = ::Larder::Lab::Statistics

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

    # `larder-lab stores`: for each workload, pass and contender the time of a call, and how many times as long as
    # larder it took, with the interval of paired rounds.
    # @param arguments [Array<String>]
    # @return [Array(Array<Bench::Figure>, Hash)] and what the lab says of versions and doubts
    def lab(*arguments)
      Dir.mktmpdir("larder-bench") do |directory|
        file = File.join(directory, "run.json")
        run(House::Environment.variables(House::Environment.lab_gemfile), "bundle", "exec", "lab/exe/larder-lab",
            "stores", "--json", file, *arguments)
        report = JSON.parse(File.read(file, encoding: "UTF-8"))
        chapter = report.dig("chapters", 0)
        [lab_figures(chapter.fetch("measures")),
         { **circumstances(chapter.fetch("details")), "yjit" => report.dig("environment", "yjit") }]
      end
    end

    # `larder-lab hitratio`: the share of requests that missed, for each trace, size and policy; and over all of them
    # how far Larder is above LRU at most, and which part of the distance from LRU to Belady it covers in the mean.
    # @param arguments [Array<String>]
    # @return [Array<Bench::Figure>]
    def hitratio(*arguments)
      Dir.mktmpdir("larder-bench") do |directory|
        file = File.join(directory, "run.json")
        run(House::Environment.variables(House::Environment.lab_gemfile), "bundle", "exec", "lab/exe/larder-lab",
            "hitratio", "--json", file, *arguments)
        rows = JSON.parse(File.read(file, encoding: "UTF-8")).dig("chapters", 0, "details", "rows")
        [*rows.flat_map { |row| miss_figures(row) }, *over_all(rows)]
      end
    end

    def miss_figures(row)
      row.fetch("outcomes").map do |outcome|
        Figure.new(name: "#{row["trace"]}, #{row["size"]}: #{outcome["policy"]}", unit: "%",
                   median: 100.0 * outcome["miss_ratio"])
      end
    end

    def over_all(rows)
      ratios = rows.map { |row| row["outcomes"].to_h { |outcome| outcome.values_at("policy", "miss_ratio") } }
      parts = rows.filter_map { |row| row["outcomes"].find { |outcome| outcome["policy"] == "larder" }["to_belady"] }
      found = [Figure.new(name: "larder above LRU, at most", unit: "points",
                          median: ratios.map { |ratio| 100.0 * (ratio["larder"] - ratio["lru"]) }.max)]
      return found if parts.empty?

      found << Figure.new(name: "larder on the way from LRU to Belady, mean", unit: "%",
                          median: 100.0 * parts.sum / parts.size)
    end

    # @param measures [Array<Hash>] "stores/workload/pass/row", each with the seconds of a call in each round
    # @return [Array<Bench::Figure>]
    def lab_figures(measures)
      samples = measures.to_h { |measure| measure.values_at("key", "samples") }
      measures.reject { |measure| measure["key"] == "reference" }.flat_map do |measure|
        _, workload, pass, row = measure["key"].split("/", 4)
        seconds = measure["samples"]
        base = samples.fetch("stores/#{workload}/#{pass}/larder")
        times = STATISTICS.estimate(STATISTICS.paired_ratios(seconds, base))
        name = "#{workload}, #{pass}: #{row}"
        [Figure.new(name: name, unit: "us", median: STATISTICS.median(seconds) * 1e6),
         Figure.new(name: "#{name} as larder", unit: "x", median: times.value, **times.to_h.slice(:low, :high))]
      end
    end

    def circumstances(document)
      rows = document.fetch("rows")
      missing = rows.reject { |row| row["state"] == "measured" }
      { "versions" => rows.map { |row| row["versions"] }.compact.reduce({}, :merge),
        "servers" => rows.filter_map { |row| row.dig("server", "version") }.uniq,
        "not measured" => missing.to_h { |row| row.values_at("name", "reason") },
        "calls a lap" => document.dig("settings", "count"), "rounds" => document.dig("settings", "rounds") }
    end

    # Built as `make -C engine` builds it, apart from other builds.
    # @return [String] path of the program
    def build(name)
      run({ "MAKEFLAGS" => nil, "DEV" => nil }, "make", "--silent", "-C", File.join(ROOT, "engine"), "BUILD=#{BUILD}",
          "#{BUILD}/#{name}")
      File.join(BUILD, name)
    end

    # Progress goes to the terminal as it is; what is printed is answered.
    def run(environment, *command)
      output, status = Open3.capture2(environment, *command, chdir: ROOT)
      status.success? ? output : raise(Failed, "#{command.first(5).join(" ")} ... ended with #{status}\n#{output}")
    end

    private_class_method :miss_figures, :over_all, :circumstances, :build, :run
  end
end
