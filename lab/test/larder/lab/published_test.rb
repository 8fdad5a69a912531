# frozen_string_literal: true

require "test_helper"
require "larder/lab/published"

module Larder
  module Lab
    class PublishedTest < ActiveSupport::TestCase
      test "what was found stands as a number, a word, or as alike" do
        assert_equal ["2.5 ×", "4 ×", "alike", "more"], [2.5, 4.0, nil, "more"].map { |factor|
          Published::Finding.new(factor: factor).verdict
        }
      end

      test "every finding can be repeated: its contenders, workload and pass exist, in the published form" do
        Published::FINDINGS.each do |finding|
          Contenders.check([finding.faster, finding.slower])
          workload = Workloads.fetch(finding.workload)
          assert_predicate workload, :published?
          assert_includes workload.passes.map(&:key), finding.pass
        end
      end
    end
  end
end
