# frozen_string_literal: true

require "test_helper"
require "support/sample_parts"
require "larder/lab/advice/arrangements"

module Larder
  module Lab
    module Advice
      # What a call takes with parts that are known.
      class ArrangementsTest < ActiveSupport::TestCase
        def arrangements(**answers)
          defaults = { hosts: "4", trust: "yes", bandwidth: "none", rtt: "1ms" }
          Arrangements.new(SampleParts.ranking(SampleParts.build, **defaults, **answers))
        end

        def by_key(found)
          found.all.to_h { |each| [each.key, each] }
        end

        test "a read is a hit or a miss by the hit ratio, a write goes everywhere" do
          found = arrangements(hit_ratio: "80%")
          alone, larder, told = by_key(found).values_at("alone-one", "larder-one", "larder-told-one")
          file = 60e-6 # serialize and write
          assert_in_delta (0.8 * found.hit) + (0.2 * (alone.read + file)), larder.read, 1e-9
          assert_in_delta alone.write + file, larder.write, 1e-9
          assert_equal larder.read, told.read
          assert_in_delta 1e-3, told.write - larder.write, 1e-9
        end

        test "one machine, or a server that is not chosen, has nothing to arrange" do
          refute_predicate arrangements(hosts: "1"), :any?
          refute_predicate arrangements(shared_by: "processes"), :any?
          stores = SampleParts::STORES.except("larder", "larder with codecs")
          refute_predicate Arrangements.new(SampleParts.ranking(SampleParts.build(stores: stores), hosts: "4")), :any?
        end

        test "machines tell each other, unless nobody notices or it takes too long" do
          assert_equal "larder-told-one", arrangements.best.key
          assert_equal "larder-one", arrangements(stale: "0.5s").best.key
          assert_equal "larder-one", arrangements(reads: "1.2", hit_ratio: "70%").best.key
        end

        test "who must see each change at once has no copies, nor has who reads few twice" do
          none = arrangements(stale: "0")
          assert_equal "alone-one", none.best.key
          assert_match(/a copy may be old for a moment, and --stale is 0/, by_key(none)["larder-told-one"].reason)
          assert_equal "alone-one", arrangements(hit_ratio: "0").best.key
        end

        test "a server in each region only where values expire in time" do
          regions = { regions: "2", region_rtt: "60ms" }
          never = arrangements(**regions)
          assert_equal "larder-told-one", never.best.key
          assert_match(/nothing tells the servers of other regions/, by_key(never)["larder-told-each"].reason)
          assert_match(/--expires-in is never/, by_key(never)["alone-each"].reason)
          late = arrangements(**regions, expires_in: "1min", stale: "5s")
          assert_equal "larder-told-one", late.best.key
          soon = arrangements(**regions, expires_in: "1min", stale: "2min")
          assert_equal "larder-told-each", soon.best.key
          assert_equal [60.0, 60.0], [soon.best.usual, soon.best.bound]
        end

        test "far machines hear of a change half a round trip later" do
          told = by_key(arrangements(regions: "2", region_rtt: "60ms"))["larder-told-one"]
          assert_in_delta 0.031, told.usual, 1e-9
        end
      end
    end
  end
end
