# frozen_string_literal: true

require "test_helper"
require "support/usages"
require "larder/cli"

module Larder
  module CLI
    class Stat
      # The lists of `larder stat --top-keys`, of given figures.
      class TopKeysTest < ActiveSupport::TestCase
        HOT = [{ key: "shop:users/17", weight: 41_208, seen: Usages::NOW - 3, value_bytes: 812 },
               { key: "views/\e#{"x" * 117}", key_bytes: 300, weight: 1000, error: 120, seen: Usages::NOW - 700,
                 value_bytes: 61 << 10 },
               { key: "noise", weight: 900, error: 800 }].freeze
        HEAVY = [{ key: "reports/2026", weight: 9 << 20, seen: Usages::NOW - 7300, value_bytes: 9 << 20 }].freeze

        def keys(**more)
          TopKeys.new(Usages.usage(hot: HOT, heavy: HEAVY), now: Usages::NOW, **more)
        end

        test "keys are listed by reads and by size, without those that are mostly error" do
          assert_equal <<~TEXT, "#{keys.lines(80).join("\n")}\n"
            Most read keys of a sample; -20 %: the reads may be 20 % fewer

              key                                              reads        value  last seen
              shop:users/17                                    41.2k         812B     3s ago
              views/\\x1Bxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxxxxxxx…  1,000 -12 %  61.0K    12m ago

            Largest values of a sample of the last day

              key           value  last seen
              reports/2026   9.0M   2h2m ago
          TEXT
        end

        test "no more are listed than asked for" do
          assert_equal 2, keys(most: 1).hot(80).size
        end

        test "it says if there are none" do
          assert_equal ["  There are none yet."], TopKeys.new(Usages.usage).hot(80)
        end

        test "machines get all, with the error" do
          hot = keys.to_h.fetch(:hot)
          assert_equal [{ key: "noise", key_bytes: 5, weight: 900, error: 800, seen: "2026-11-29T10:41:07Z",
                          value_bytes: 100 }, 3], [hot.last, hot.size]
          assert_equal ["reports/2026"], keys.to_h.fetch(:heavy).map { |key| key[:key] }
        end
      end
    end
  end
end
