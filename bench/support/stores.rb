# frozen_string_literal: true

# The parts that `larder-lab applications` and `larder-lab stores` measure, and the figures that are made of their
# samples.

require_relative "figure"
require_relative "programs"
require_relative "../../lab/lib/larder/lab/statistics"

module Bench
  # Rails stores in turns: the calls that applications make, and the published call.
  module Stores
    STATISTICS = ::Larder::Lab::Statistics

    # A part: its heading, the command of larder-lab, and its contenders.
    Part = Struct.new(:about, :command, :contenders)

    PARTS = {
      "applications" => Part.new("Rails: pages, fragments, records, JSON, counters", "applications",
                                 "larder,memory,litecache,redis-loopback,redis"),
      "published" => Part.new("Rails: the published call, one and five threads", "stores",
                              "larder,memory,litecache,redis-loopback,redis,memcached")
    }.freeze

    OPTIONS = { quick: ["--quick"], full: ["--sessions", "7"] }.freeze

    # The contender that is judged.
    LARDER = "larder"

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
    # of sessions.
    # @param measures [Array<Hash>] "suite/block/row", each with the seconds of a call in each session
    # @return [Array<Bench::Figure>]
    def figures(measures)
      blocks = measures.reject { |measure| measure["key"] == "reference" }
                       .group_by { |measure| measure["key"].split("/")[1] }
      blocks.flat_map do |block, all|
        rows = all.to_h { |measure| [measure["key"].split("/", 3).last, measure["samples"]] }
        rows.flat_map do |row, seconds|
          [Figure.estimated("#{block}: #{row}", "us", seconds.map { |second| second * 1e6 }),
           *as_larder(block, row, seconds, rows[LARDER])]
        end
      end
    end

    def as_larder(block, row, seconds, larder)
      return [] unless larder&.size == seconds.size

      [Figure.estimated("#{block}: #{row} as larder", "x", STATISTICS.paired_ratios(seconds, larder))]
    end

    def circumstances(details)
      recorded = details.fetch("recorded").values
      { "versions" => recorded.map { |row| row["versions"] }.reduce({}, :merge),
        "servers" => recorded.filter_map { |row| row.dig("server", "version") }.uniq,
        "not measured" => details.fetch("absent").transform_values { |absence| absence["reason"] },
        "sessions" => details.dig("settings", "sessions") }
    end

    private_class_method :as_larder, :circumstances
  end
end
