# frozen_string_literal: true

require "test_helper"
require_relative "../../bench/support/targets"
require_relative "../../bench/support/parts"

$LOAD_PATH.unshift(File.expand_path("../../lab/lib", __dir__))
require "larder/lab/contenders"
require "larder/lab/workloads"
require "larder/lab/hitratio/policies"

module Bench
  # Targets name figures that the programs print: a renamed figure must not silently become "not measured".
  class TargetsTest < ActiveSupport::TestCase
    include TemporaryDirectory

    # The shortest run of each program; opening 1 GiB and the table beside LMDB are left to bench/run itself.
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

    test "a part that the lab measures has the contenders and workloads that it names" do
      Parts::LAB.each_value do |contenders, workloads|
        assert_empty contenders.split(",") - Larder::Lab::Contenders.names
        assert_empty workloads.split(",") - Larder::Lab::Workloads.names
      end
    end

    test "a target of the lab names a workload, a pass and a contender of its part" do
      Targets::STORES.each do |target|
        workload, pass, contender = target.figure.match(/\A([\w-]+), (\w+): ([\w-]+) as larder\z/).captures
        contenders, workloads = Parts::LAB.fetch(target.part).map { |names| names.split(",") }
        assert_includes contenders, contender
        assert_includes workloads, workload
        assert_includes Larder::Lab::Workloads.fetch(workload).passes.map(&:key), pass
      end
    end

    test "the rounds of a run of the lab become times in microseconds and as larder" do
      measures = { "larder" => [1e-6, 2e-6, 3e-6], "redis" => [10e-6, 30e-6, 60e-6] }
                 .map { |row, samples| { "key" => "stores/one-thread/hit/#{row}", "samples" => samples } }
      figures = Programs.lab_figures(measures).to_h { |figure| [figure.name, figure] }
      assert_in_delta 30.0, figures.fetch("one-thread, hit: redis").median, 1e-9
      times = figures.fetch("one-thread, hit: redis as larder")
      [[15.0, times.median], [10.0, times.low], [20.0, times.high]].each { |pair| assert_in_delta(*pair, 1e-9) }
    end

    test "a target of misses names Larder as the lab does" do
      assert_includes Larder::Lab::Hitratio::Policies.names, "larder"
      Targets::EVICTION.each { |target| assert_includes Parts::SIZES.keys, target.part }
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
  end
end
