# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Sessions
      class PublishedTest < ActiveSupport::TestCase
        test "ratios of the published seconds are the published ratios" do
          off, on, caching = [1.28, 1.25, 1.28, 1.28, 1.05, 1.02, 1.02, 1.04],
                             [1.33, 1.29, 1.32, 1.32, 1.10, 1.08, 1.07, 1.07],
                             [0.97, 0.98, 0.98, 0.98, 1.18, 2.20, 2.23, 1.26]
          paths = Pages::ALL.map(&:path)
          assert_equal Published::SECONDS.keys, paths
          assert_equal off, (paths.map { |path| Published.ratio(path, :off) })
          assert_equal on, (paths.map { |path| Published.ratio(path, :on) })
          assert_equal caching, (paths.map { |path| Published.caching(path) })
        end

        test "what stands beside them is a store of the lab" do
          assert_empty [*Published::SQL.values, Published::MEMCACHED, *Goals::WORK.keys, Goals::SQL, WorkPart::FLOOR,
                        *Options::QUICKLY] - Stores.names
          assert_empty [Goals::PAGE, *Pages::SERVED, *PagesPart::CHARTED] - Pages::ALL.map(&:path)
        end
      end
    end
  end
end
