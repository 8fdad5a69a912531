# frozen_string_literal: true

require "test_helper"
require "larder/lab/suite_report/server_memory"

module Larder
  module Lab
    module SuiteReport
      class ServerMemoryTest < ActiveSupport::TestCase
        test "a row has the medians before and after, and of the growth of each server" do
          table = ServerMemory.table("pg" => { "memory" => { "before" => [10, 20, 30], "after" => [14, 21, 90] } },
                                     "redis" => { "memory" => { "before" => [5], "after" => [4] } },
                                     "file" => {})
          assert_equal [["redis", 5, 4, -1], ["pg", 20, 21, 4]], table.rows
        end

        test "a row that was left out in a session has no growth there, and without any there is no table" do
          left = { "memory" => { "before" => [10, 20, 30], "after" => [14] } }
          assert_equal [["pg", 20, 14, 4]], ServerMemory.table("pg" => left).rows
          assert_nil ServerMemory.table("pg" => { "memory" => { "before" => [10] } }, "file" => {})
        end
      end
    end
  end
end
