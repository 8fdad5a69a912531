# frozen_string_literal: true

# The parts that `larder-lab stores` measures, and the figures that are made of its samples.

require_relative "figure"
require_relative "programs"
require_relative "../../lab/lib/larder/lab/statistics"

module Bench
  # Rails stores beside each other. First what applications do, each beside its floor (what a call costs with any
  # store), then the published call.
  module Stores
    STATISTICS = ::Larder::Lab::Statistics

    # A part: its heading, the contenders and the workloads of larder-lab, and where a call may take milliseconds, how
    # many calls a lap of a full run has.
    Part = Struct.new(:about, :contenders, :workloads, :calls)

    PARTS = {
      "pages" => Part.new("Rails: whole requests whose views cache fragments", "larder,memory,redis", "pages"),
      "fragments" => Part.new("Rails: fragments of views, one and 50 a call", "larder,memory,redis-loopback",
                              "fragments,collections"),
      "keys" => Part.new("Rails: hits with records in keys and with options", "larder,memory,redis", "keys", 2_000),
      "subscriber" => Part.new("Rails: hits while somebody listens", "larder,memory,litecache,redis-loopback",
                               "subscriber"),
      "strings" => Part.new("Rails: HTML of 2 to 100 KB", "larder,memory,redis", "strings"),
      "objects" => Part.new("Rails: a Hash, a record, 25 records", "larder,memory,redis", "objects", 1_000),
      "published" => Part.new("Rails: the published workload, one and five threads",
                              "larder,memory,litecache,redis-loopback,redis,memcached",
                              "one-thread,threads-as-published,threads-disjoint"),
      "multi" => Part.new("Rails: read_multi and fetch_multi of 100", "larder,memory,redis", "read-multi,fetch-multi"),
      "megabytes" => Part.new("Rails: strings of 1 MB", "larder,memory,redis,file", "large"),
      "plain" => Part.new("Rails: read, write, delete, and values that are Hashes", "larder,memory,redis,file",
                          "write,read-delete,hashes")
    }.freeze

    OPTIONS = { quick: ["--quick", "--rounds", "3", "--n", "1000"], full: ["--rounds", "7"] }.freeze

    # Keys or fragments of one call, where a target is for each of them: "workload, pass" => number.
    KEYS = { "pages, ten" => 10, "pages, index" => 50, "collections, write_multi" => 50,
             "collections, read_multi" => 50, "collections, fetch_multi" => 50 }.freeze

    # The pass of "keys" beside which the others stand.
    PLAIN = "keys, plain"

    # The contender that is judged, and what a call costs with any store.
    LARDER = "larder"
    FLOOR = "floor"

    module_function

    # @param name [String] key of PARTS
    # @param mode [Symbol] :quick or :full
    # @param directory [String] for files
    # @return [Array(Array<Bench::Figure>, Hash)] and what the lab says of versions and servers
    def run(name, mode, directory)
      part = PARTS.fetch(name)
      report = Programs.lab("stores", "--only", part.contenders, "--workloads", part.workloads, "--base", LARDER,
                            "--seed", "1", "--dir", directory, *calls(part, mode), *OPTIONS.fetch(mode))
      chapter = report.dig("chapters", 0)
      [figures(chapter.fetch("measures")),
       { **circumstances(chapter.fetch("details")), "yjit" => report.dig("environment", "yjit") }]
    end

    def calls(part, mode)
      part.calls && mode == :full ? ["--n", part.calls.to_s] : []
    end

    # For each workload, pass and contender the time of a call, and how many times as long as larder it took, with the
    # interval of paired rounds; and where the floor is known, how far larder is from it.
    # @param measures [Array<Hash>] "stores/workload/pass/row", each with the seconds of a call in each round
    # @return [Array<Bench::Figure>]
    def figures(measures)
      passes = measures.reject { |measure| measure["key"] == "reference" }.group_by do |measure|
        measure["key"].split("/")[1, 2].join(", ")
      end
      passes = passes.transform_values do |rows|
        rows.to_h { |measure| [measure["key"].split("/", 4).last, measure["samples"]] }
      end
      passes.flat_map do |pass, rows|
        [*beside_larder(pass, rows), *above_floor(pass, rows), *above_plain(pass, passes)]
      end
    end

    def beside_larder(pass, rows)
      rows.flat_map do |row, seconds|
        [Figure.estimated("#{pass}: #{row}", "us", seconds.map { |second| second * 1e6 }),
         Figure.estimated("#{pass}: #{row} as larder", "x", STATISTICS.paired_ratios(seconds, rows.fetch(LARDER)))]
      end
    end

    def above_floor(pass, rows)
      floor = rows[FLOOR]
      return [] unless floor

      larder = rows.fetch(LARDER)
      keys = KEYS.fetch(pass, 1)
      above = larder.zip(floor).map { |one, other| one - other }
      name = "#{pass}: larder"
      each = above.map { |second| second * 1e6 / keys }
      [Figure.estimated("#{name} above floor#{", a key" if keys > 1}", "us", each),
       Figure.estimated("#{name} as floor", "x", STATISTICS.paired_ratios(larder, floor)),
       Figure.estimated("#{name}'s share", "%", STATISTICS.paired_ratios(above, larder).map { |ratio| 100 * ratio })]
    end

    def above_plain(pass, passes)
      return [] unless pass.start_with?("keys, ") && passes.key?(PLAIN)

      plain = passes.fetch(PLAIN).fetch(LARDER)
      above = passes.fetch(pass).fetch(LARDER).zip(plain).map { |one, other| (one - other) * 1e6 }
      [Figure.estimated("#{pass}: larder above plain", "us", above)]
    end

    def circumstances(document)
      rows = document.fetch("rows")
      missing = rows.reject { |row| row["state"] == "measured" }
      { "versions" => rows.map { |row| row["versions"] }.compact.reduce({}, :merge),
        "servers" => rows.filter_map { |row| row.dig("server", "version") }.uniq,
        "not measured" => missing.to_h { |row| row.values_at("name", "reason") },
        "calls a lap" => document.dig("settings", "count"), "rounds" => document.dig("settings", "rounds") }
    end

    private_class_method :calls, :beside_larder, :above_floor, :above_plain, :circumstances
  end
end
