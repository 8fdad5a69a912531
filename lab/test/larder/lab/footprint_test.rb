# frozen_string_literal: true

require "test_helper"
require "larder/lab/footprint"

module Larder
  module Lab
    class FootprintTest < ActiveSupport::TestCase
      test "files grow by their blocks, on disks and in memory apart" do
        with_directory do |dir|
          before = Footprint.take(dirs: [dir])
          File.binwrite(File.join(dir, "file"), "x" * 1_000_000)
          growth = Footprint.take(dirs: [dir]) - before
          assert_in_delta 1_000_000, growth.disk + growth.tmpfs, 10_000
        end
      end

      test "memory that this process holds is its own, and given back it is not" do
        before = Footprint.take
        held = Array.new(20) { Random.bytes(1_000_000) }
        assert_in_delta 20_000_000, (Footprint.take - before).own, 6_000_000
        assert_equal 20, held.size
        held.clear
        assert_operator (Footprint.take - before).own, :<, 10_000_000
      end

      test "what is not there takes nothing" do
        nothing = Footprint.take(pid: 2**22 + 1, dirs: ["/there/is/no/such/place"])
        assert_equal [0, 0], [nothing.server, nothing.disk]
      end
    end
  end
end
