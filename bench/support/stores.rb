# frozen_string_literal: true

# The parts that `larder-lab applications`, `stores` and `calls` measure, and the figures that are made of them.

require_relative "figure"
require_relative "median"
require_relative "programs"

module Bench
  # Rails stores in turns: the calls that applications make, the published call, and single calls.
  module Stores
    # A part: its heading, the command of larder-lab, and its contenders.
    Part = Struct.new(:about, :command, :contenders)

    PARTS = {
      "applications" => Part.new("Rails: pages, fragments, records, JSON, counters", "applications",
                                 "larder,memory,litecache,redis-loopback,redis,floor"),
      "published" => Part.new("Rails: the published call, one and five threads", "stores",
                              "larder,memory,litecache,redis-loopback,redis,memcached"),
      "calls" => Part.new("Rails: single calls, by size of the value", "calls", "larder,memory,file,redis,floor")
    }.freeze

    OPTIONS = { quick: ["--quick"], full: ["--sessions", "7"] }.freeze

    # The contender that is judged, and the least that a cache in Ruby takes.
    LARDER = "larder"
    FLOOR = "floor"

    # Keys or fragments of one call, where a target is for each of them.
    KEYS = { "page" => 10, "index" => 50, "read_multi_10" => 10, "write_multi_10" => 10, "read_multi_100" => 100,
             "write_multi_100" => 100 }.freeze

    # The plain call, and the blocks that add an option to it.
    PLAIN = "fetch_hit"
    OPTIONS_OF_FETCH = %w[fetch_version fetch_namespace fetch_raw fetch_race].freeze

    module_function

    # @param name [String] key of PARTS
    # @param mode [Symbol] :quick or :full
    # @param directory [String] for files
    # @return [Array(Array<Bench::Figure>, Hash)] and what the lab says of versions and servers
    def run(name, mode, directory)
      part = PARTS.fetch(name)
      report = Programs.lab(part.command, "--only", part.contenders, "--base", LARDER, "--seed", "1",
                            "--dir", directory, *OPTIONS.fetch(mode))
      chapter = report.dig("chapters", 0)
      [figures(chapter.fetch("measures")),
       { **circumstances(chapter.fetch("details")), "yjit" => report.dig("environment", "yjit") }]
    end

    # For each block and contender the time of a call, and how many times as long as larder it took, with the interval
    # of sessions; where the floor took part, how far larder is from it.
    # @param measures [Array<Hash>] "suite/block/row", each with the seconds of a call in each session
    # @return [Array<Bench::Figure>]
    def figures(measures)
      blocks = measures.reject { |measure| measure["key"] == "reference" }
                       .group_by { |measure| measure["key"].split("/")[1] }
                       .transform_values do |all|
        all.to_h { |measure| [measure["key"].split("/", 3).last, measure["samples"]] }
      end
      blocks.flat_map do |block, rows|
        [*times(block, rows), *above_floor(block, rows[LARDER], rows[FLOOR]),
         *(above_plain(block, rows[LARDER], blocks.dig(PLAIN, LARDER)) if OPTIONS_OF_FETCH.include?(block))]
      end
    end

    def times(block, rows)
      rows.flat_map do |row, seconds|
        [Figure.estimated("#{block}: #{row}", "us", seconds.map { |second| second * 1e6 }),
         *as_larder(block, row, seconds, rows[LARDER])]
      end
    end

    def as_larder(block, row, seconds, larder)
      return [] unless larder&.size == seconds.size

      [Figure.estimated("#{block}: #{row} as larder", "x", Median.paired_ratios(seconds, larder))]
    end

    def above_floor(block, larder, floor)
      return [] unless larder && floor&.size == larder.size

      keys = KEYS.fetch(block, 1)
      above = larder.zip(floor).map { |one, other| one - other }
      [Figure.estimated("#{block}: larder above floor#{", a key" if keys > 1}", "us",
                        above.map { |second| second * 1e6 / keys }),
       Figure.estimated("#{block}: larder as floor", "x", Median.paired_ratios(larder, floor)),
       Figure.estimated("#{block}: larder's share", "%",
                        Median.paired_ratios(above, larder).map { |ratio| 100 * ratio })]
    end

    def above_plain(block, larder, plain)
      return [] unless larder && plain&.size == larder.size

      [Figure.estimated("#{block}: larder above #{PLAIN}", "us",
                        larder.zip(plain).map { |one, other| (one - other) * 1e6 })]
    end

    def circumstances(details)
      recorded = details.fetch("recorded").values
      { "versions" => recorded.map { |row| row["versions"] }.reduce({}, :merge),
        "servers" => recorded.filter_map { |row| row.dig("server", "version") }.uniq,
        "not measured" => details.fetch("absent").transform_values { |absence| absence["reason"] },
        "sessions" => details.dig("settings", "sessions") }
    end

    private_class_method :times, :as_larder, :above_floor, :above_plain, :circumstances
  end
end
