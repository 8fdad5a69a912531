# frozen_string_literal: true

require "test_helper"
require "larder/lab/warnings"

module Larder
  module Lab
    class WarningsTest < ActiveSupport::TestCase
      test "other work is suspected from seven tenths of all cores on" do
        assert_nil Warnings.busy(load_average: 1.4, cores: 2)
        assert_equal "Other work was running when the run began: load 1.5 on 2 cores.",
                     Warnings.busy(load_average: 1.5, cores: 2)
      end

      test "no load average, no warning" do
        assert_nil Warnings.busy(load_average: nil, cores: 2)
      end
    end
  end
end
