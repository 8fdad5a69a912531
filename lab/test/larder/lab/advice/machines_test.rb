# frozen_string_literal: true

require "test_helper"
require "support/advice_runs"

module Larder
  module Lab
    module Advice
      class MachinesTest < ActiveSupport::TestCase
        test "a read is a hit or a miss by the hit ratio, and a write goes everywhere" do
          found = machines(hit_ratio: "80%")
          alone, front, told = found.ways.map { |way| [way.read, way.write].map { |cost| found.model.seconds(cost) } }
          assert_in_delta (0.8 * 35e-6) + (0.2 * (alone.first + 50e-6)), front.first, 1e-6
          assert_in_delta alone.last + 50e-6, front.last, 1e-6
          assert_in_delta front.first, told.first, 1e-9
          assert_in_delta 1e-3, told.last - front.last, 1e-9
        end

        test "without several machines, or without Larder, there is nothing to arrange" do
          refute_predicate machines(hosts: "1"), :any?
          refute_predicate machines(shared_by: "processes"), :any?
          refute_predicate Machines.new(AdviceRuns.ranking({ hosts: "4" }, stores: { "redis" => [90, 100] })), :any?
        end

        test "Larder is put in front where that is shown to be faster, with a backplane unless values expire soon" do
          { {} => "Larder, backplane", { stale: "0.5s" } => "Larder in front", { stale: "0" } => "redis alone",
            { reads: "1.2", hit_ratio: "70%" } => "Larder in front", { hit_ratio: "0" } => "redis alone",
            { reads: "0" } => "redis alone" }.each { |given, way| assert_equal way, machines(**given).best.title }
        end

        private

        def machines(**answers)
          given = { hosts: "4", bandwidth: "none", rtt: "1ms", **answers }
          Machines.new(AdviceRuns.ranking(given, stores: AdviceRuns::SERVERS.slice("larder", "redis")))
        end
      end
    end
  end
end
