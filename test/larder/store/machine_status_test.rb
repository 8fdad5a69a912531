# frozen_string_literal: true

require "support/store_case"

module Larder
  module Store
    class MachineStatusTest < StoreCase
      STATUS = { id: "0123456789abcdef", host: "web-1", path: "/a/cache.larder", larder: "1.0",
                 seen_at: 1_800_000_000.5, processes: 3, items: 10, size_bytes: 1 << 20, fullness: 0.5,
                 hit_ratio: nil, trusted: true, backplane: true, listener: true, unsent: false, waiting: false,
                 listed: 0, overflown: false, waiting_since: nil, paused: false }.freeze

      def text(**more)
        MachineStatus.new(**STATUS, **more).text
      end

      test "a status is read as it was written, and is not that of this machine" do
        read = MachineStatus.parse(text(here: true).b)
        assert_equal MachineStatus.new(**STATUS, here: false), read
      end

      test "members of a later version are left out" do
        more = JSON.generate({ **STATUS, later: 1 })
        assert_equal "web-1", MachineStatus.parse(more).host
      end

      test "texts of another form are refused, as others may have written them" do
        hostile = { id: "../../etc", host: "x" * 256, path: 7, larder: nil, seen_at: "now", processes: -1, items: 1.5,
                    size_bytes: 2**70, fullness: 1.1, hit_ratio: -0.1, trusted: "yes", backplane: 1, listener: "7",
                    unsent: [], waiting: {}, listed: true, overflown: 0, waiting_since: "x", paused: "no" }
        assert_equal STATUS.keys, hostile.keys
        hostile.each { |name, value| assert_nil MachineStatus.parse(JSON.generate({ **STATUS, name => value })), name }
        others = [nil, 7, "", "null", "[]", "{}", "{", "\xff", "#{text}#{" " * 4096}", "[" * 100, '{"seen_at": NaN}']
        others.each { |other| assert_nil MachineStatus.parse(other), other.inspect }
      end

      test "the age is never below zero, as clocks differ" do
        status = MachineStatus.parse(text)
        assert_equal [9.5, 0.0], [status.age(1_800_000_010), status.age(1_800_000_000)]
      end
    end
  end
end
