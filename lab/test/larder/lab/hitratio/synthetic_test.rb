# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Hitratio
      class SyntheticTest < ActiveSupport::TestCase
        test "a name of a pattern is one, unless a file has it" do
          assert %w[zipf scan loop shift].all? { |text| Synthetic.named?(text) }
          assert %w[zip zipf:skew=1 ./loop zipf.gz].none? { |text| Synthetic.named?(text) }
          with_directory do |dir|
            Dir.chdir(dir) { File.write("loop", "1\n") && assert_not(Synthetic.named?("loop")) }
          end
        end

        test "the same seed makes the same trace, another seed another" do
          first, again, other = [1, 1, 2].map { |seed| Synthetic.make("zipf", requests: 1000, seed: seed).requests }
          assert_equal first, again
          assert_not_equal first, other
        end

        test "zipf: the n-th object is asked for by Zipf's law" do
          counts = Synthetic.make("zipf", objects: 1000, skew: 1, requests: 200_000).requests.tally.values.sort.reverse
          assert_in_delta 2.0, counts[0].fdiv(counts[1]), 0.2
          assert_in_delta 10.0, counts[0].fdiv(counts[9]), 1.0
        end

        test "loop: all objects in a row" do
          trace = Synthetic.make("loop", objects: 3, requests: 7)
          assert_equal [[0, 1, 2, 0, 1, 2, 0], 3], [trace.requests, trace.objects]
        end

        test "scan: rows of objects that are never asked for again" do
          trace = Synthetic.make("scan", objects: 50, every: 100, row: 30, requests: 260)
          rows = [100...130, 230...260].map { |range| trace.requests[range] }
          assert_equal 60, rows.flatten.uniq.size
          again = rows.flatten.map { |object| trace.following[trace.requests.index(object)] }
          assert_equal [Trace::NEVER], again.uniq
        end

        test "shift: other objects are popular after a while" do
          parts = Synthetic.make("shift", objects: 10_000, skew: 1.2, every: 5000, requests: 10_000).requests
          popular = parts.each_slice(5000).map { |part| part.tally.max_by(10, &:last).map(&:first) }
          assert_empty popular[0] & popular[1]
        end
      end
    end
  end
end
