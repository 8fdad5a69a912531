# frozen_string_literal: true

require "test_helper"
require "support/simulated_runs"

module Larder
  module Lab
    module SuiteReport
      class WireModelTest < ActiveSupport::TestCase
        QUIET = { pass: 0, process: 0, turn: 0, disturbed: 0 }.freeze

        test "a call is predicted from the nearest one, the longer round trip and the bits" do
          rows = table.rows.to_h { |name, *cells| [name, cells] }
          # A call takes 10 µs, whatever the network: the model expects 500 µs more, and 100,000 bytes at 100 Mbit/s.
          assert_equal ["redis: read, 100 Mbit/s, none", "redis: read, 12 B, 500 µs"], rows.keys
          assert_in_delta 510e-6, rows["redis: read, 12 B, 500 µs"][1], 1e-6
          assert_in_delta 8010e-6, rows["redis: read, 100 Mbit/s, none"][1], 1e-6
          assert_in_delta(-0.98, rows["redis: read, 12 B, 500 µs"].last, 0.01)
        end

        private

        def table
          figures = { "read_hello_0us" => { "rtt" => [0.0], "bytes" => [12] },
                      "read_hello_500us" => { "rtt" => [0.5e-3], "bytes" => [12] },
                      "read_none_no_limit" => { "rtt" => [0.5e-3], "bytes" => [100_000] },
                      "read_none_100mbit" => { "rtt" => [0.5e-3], "bandwidth" => [100e6], "bytes" => [100_000] } }
          recorded = { "redis" => { "versions" => {}, "figures" => figures }, "memory" => { "versions" => {} } }
          chapter = SimulatedRuns.chapter({ "redis" => 1.0, "memory" => 1.0 }, suite: "wire", blocks: figures.keys,
                                                                               recorded: recorded, **QUIET)
          tables = chapter.sections.flat_map(&:blocks).select { |block| block.kind == "table" }
          tables.find { |table| table.caption.to_s[/predictions/] }
        end
      end
    end
  end
end
