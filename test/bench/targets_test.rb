# frozen_string_literal: true

require "test_helper"
require_relative "../../bench/support/targets"
require_relative "../../bench/support/parts"

$LOAD_PATH.unshift(File.expand_path("../../lab/lib", __dir__))
require "larder/lab"
require "larder/lab/hitratio/policies"

module Bench
  # Targets name figures that the programs print: a renamed figure must not silently become "not measured".
  class TargetsTest < ActiveSupport::TestCase
    include TemporaryDirectory

    # The shortest run of each program; opening 1 GiB, writing through cold files, memory limits and
    # the table of LMDB are left to bench/run itself.
    PROGRAMS = {
      "processes" => ["processes", "--rounds", "1", "--seconds", "0.005"],
      "tails-memory" => ["tails", "--rounds", "1", "--seconds", "0.01"],
      "density" => ["density"]
    }.freeze

    PROGRAMS.each do |part, (program, *arguments)|
      slow_test "the #{program} program prints what the targets of #{part} name" do
        figures = Programs.engine(program, "--directory", directory, *arguments)
        targets = Targets::ALL.select { |target| target.part == part }
        assert_not_empty targets
        targets.each { |target| assert target.measured(figures), "#{target.figure} is not among the figures" }
        assert_empty Dir.children(directory)
      end
    end

    test "a part that the lab measures has a command and contenders that the lab has" do
      Stores::PARTS.each_value do |part|
        assert_empty part.contenders.split(",") - Larder::Lab::Contenders.names
        assert_includes Larder::Lab::Commands.names, part.command
      end
    end

    test "a target of the lab is among the figures that its part makes" do
      [*Targets::STORES, *Targets::FLOORS].group_by(&:part).each do |name, some|
        figures = Stores.figures(measures(Stores::PARTS.fetch(name)))
        some.each { |target| assert target.measured(figures), "#{target.figure} is not among the figures" }
      end
    end

    test "a target of a watched application is among the figures of its part" do
      seconds = %w[larder memory floor].to_h { |store| [store, [1e-6, 2e-6, 3e-6]] }
      figures = Monitors::NAMES.product(Monitors::CALLS).flat_map do |monitor, call|
        Monitors.figures(monitor, { "call" => call, "seconds" => seconds })
      end
      Targets::MONITORS.each { |target| assert_in_delta 1, target.measured(figures).median, 1e-9, target.figure }
    end

    slow_test "the processor time that statistics, dashboard and metrics take is measured" do
      figures = Watched.run(:quick, directory)
      target = Targets::ALL.find { |one| one.part == "watched" }
      assert target.measured(figures), "#{target.figure} is not among the figures"
      assert_empty Dir.children(directory)
    end

    slow_test "the calls of a watched application are those that the targets name" do
      figures = Monitors.run(:quick, directory)
      Targets::MONITORS.each { |target| assert target.measured(figures), "#{target.figure} is not among the figures" }
    end

    test "the sessions of a run of the lab become times in microseconds and as larder" do
      figures = figures_of("hit", "larder" => [1e-6, 2e-6, 3e-6], "redis" => [10e-6, 30e-6, 60e-6])
      assert_in_delta 30.0, figures.fetch("hit: redis").median, 1e-9
      times = figures.fetch("hit: redis as larder")
      [[15.0, times.median], [10.0, times.low], [20.0, times.high]].each { |pair| assert_in_delta(*pair, 1e-9) }
    end

    test "larder's distance from the floor is taken session by session" do
      figures = figures_of("read_multi_10", "larder" => [30e-6, 20e-6, 40e-6], "floor" => [10e-6, 10e-6, 20e-6])
      assert_equal [2.0, 2.0, 50.0], ["above floor, a key", "as floor"].map { |name|
        figures.fetch("read_multi_10: larder #{name}").median.round(9)
      } << figures.fetch("read_multi_10: larder's share").median.round(9)
    end

    test "an option of fetch is compared with fetch without it" do
      measures = { "fetch_hit" => 2e-6, "fetch_raw" => 3e-6 }.map { |block, one| measure("#{block}/larder", [one] * 3) }
      figures = Stores.figures(measures).to_h { |one| [one.name, one] }
      assert_in_delta 1.0, figures.fetch("fetch_raw: larder above fetch_hit").median, 1e-9
    end

    test "a row that has fewer sessions than larder, or that stands alone, has no ratio" do
      assert_equal ["hit: larder", "hit: larder as larder", "hit: redis"],
                   figures_of("hit", "larder" => [1e-6] * 3, "redis" => [1e-5] * 2).keys
      assert_equal ["cold: redis"], figures_of("cold", "redis" => [1e-5]).keys
    end

    test "the table of targets in the documents has the bounds of each part, and no others" do
      bounds = Targets::ALL.group_by(&:part).transform_values do |targets|
        targets.map { |target| [target.sense, target.bound.to_f] }.uniq.sort
      end
      assert_equal bounds, documented
    end

    test "a target of misses names Larder as the lab does" do
      assert_includes Larder::Lab::Hitratio::Policies.names, "larder"
      Targets::EVICTION.each { |target| assert_includes Parts::SIZES.keys, target.part }
    end

    test "the targets of few large values are among the figures of their rows" do
      runs = [[500, 200], [600, 220], [530, 210]].map do |few, more|
        rows = [misses_of("few", few, few - 10), misses_of("more", more, more + 20)]
        Larder::Lab::Hitratio::Chapter.new(rows).to_chapter.details[:rows]
      end
      figures = Programs.misses(JSON.parse(JSON.generate(runs)))
      targets = Targets::EVICTION.select { |target| target.part == "misses-few" }
      assert_equal [10.0, 1.0, 30.0], targets.map { |target| target.measured(figures).median.round(9) }
      of_one = figures.find { |figure| figure.name == "few, 9x1KB: larder" }
      assert_equal [53.0, 50.0, 60.0], of_one.to_h.values_at(:median, :low, :high)
    end

    test "the targets of the table beside LMDB are lines that are read" do
      table = <<~TEXT
        get, 16 hot keys           larder           50.0 ns    1.0000x
                                   bare loop        40.0 ns    0.8000x
                                   lmdb             60.0 ns    1.2000x
      TEXT
      lines = table.scan(Programs::LINE)
      assert_equal 3, lines.size
      assert_equal ["bare loop", "40.0", "0.8000"], lines[1].drop(1)
      assert_equal "get, 16 hot keys", lines[0].first.strip
    end

    private

    # @return [Hash{String => Array}] sense and bound of the rows of each part; a row without one belongs to that above
    def documented
      text = File.read(File.expand_path("../../docs/reference/targets.md", __dir__), encoding: "UTF-8")
      part = nil
      rows = text[/^\|---.*?\n(.*?)^$/m, 1].lines.map { |line| line.split("|").map(&:strip) }
      rows.each_with_object({}) do |(_, given, _, target), found|
        part = given unless given.empty?
        sense = target.start_with?("at most ") ? :most : :least
        (found[part] ||= []).concat(target.delete(",").scan(/[\d.]+/).map { |bound| [sense, Float(bound)] })
      end.transform_values { |all| all.uniq.sort }
    end

    def figures_of(block, samples)
      Stores.figures(samples.map { |row, seconds| measure("#{block}/#{row}", seconds) }).to_h { |one| [one.name, one] }
    end

    def measure(key, seconds)
      { "key" => "suite/#{key}", "samples" => seconds }
    end

    # A trace of 1,000 requests. Larder covers three tenths of the distance from LRU to Belady.
    def misses_of(trace, larder, net)
      Larder::Lab::Hitratio::Row.new(trace: trace, size: "9x1KB", capacity: 9000, requests: 1000, net_misses: net,
                                     misses: { "larder" => larder, "lru" => larder + 30, "belady" => larder - 70 })
    end

    # One session of all that a part measures.
    def measures(part)
      suites = Larder::Lab::Commands.fetch(part.command)::SUITES.map { |suite| Larder::Lab::Suites.fetch(suite) }
      suites.flat_map(&:blocks).product(part.contenders.split(",")).map do |block, row|
        measure("#{block.key}/#{row}", [1e-6])
      end
    end
  end
end
