# frozen_string_literal: true

require "test_helper"
require "support/usages"
require "larder/cli"

module Larder
  module CLI
    class Top
      # Whole screens of `larder top`, of given figures.
      class PageTest < ActiveSupport::TestCase
        STATS = { hits: 1000, misses: 100, sets: 100, evictions: 0, items: 52_408, size_bytes: 256 << 20,
                  fullness: 0.61, hit_ratio: 0.94 }.freeze
        LATER = STATS.merge(hits: 5000, misses: 500, sets: 500, evictions: 20).freeze
        HOUR = [{ hits: 600, misses: 60 }, { "users" => { hits: 300, computes: 1, compute_us: 20_000_000 } }].freeze
        HOT = [{ key: "users/17", weight: 41_208, seen: Usages::NOW - 3, value_bytes: 812 }].freeze
        FOOTER = "q quit  ? help  space pause  k keys  sort: r m h b e c, arrow: reverse"

        def keyspaces(times)
          { "views/products/_row" => { hits: 1000 * times, misses: 500 * times, stores: 500 * times,
                                       stored_bytes: 2_500_000 * times, evictions: 20 * times,
                                       evicted_age_ms: 220_000_000 * times, computes: 400 * times,
                                       compute_us: 16_400_000 * times, read_variance: 900 * times },
            "users" => { hits: 4000 * times, misses: 5 * times, stores: 5 * times, stored_bytes: 400 * times },
            "old" => { hits: 7 }, "weird\e" => { stores: 3 * times } }
        end

        def statistics(times)
          began = Usages::NOW - 67
          Statistics.new(Usages.usage(keyspaces: keyspaces(times), rest: { hits: 100 * times }, hot: HOT,
                                      minutes: { began => HOUR }, hours: { began => HOUR }), nil)
        end

        def history(*readings)
          readings = [[100.0, STATS, statistics(1)], [110.0, LATER, statistics(2)]] if readings.empty?
          readings.each_with_object(History.new) do |(clock, stats, statistics), history|
            history.add(Reading.new(clock, Usages::NOW.getlocal("+00:00"), stats, [812, 813], statistics))
          end
        end

        def lines(*keys, rows: 24, columns: 80, history: self.history)
          choices = Choices.new
          keys.each { |key| choices.press(key) }
          Page.new("/srv/shop/cache.larder", history, choices).lines(rows, columns)
        end

        def screen(*keys, **more)
          lines(*keys, **more).map(&:first)
        end

        test "a screen of 80 columns and 24 rows" do
          expected = <<~TEXT.lines(chomp: true)
            /srv/shop/cache.larder                                                  10:41:07
            [############--------] 61 % of 256.0 MiB   52,408 items   2 processes
            hits: now 91 %   last hour 91 %   last day 91 %   saved 1h40m of computing
            per second: 440 reads   40 stores   2 evictions

            Keyspaces in the last 10 seconds, by reads, largest first
              keyspace           READS/S        hits  misses/s  stored/s  evict/s  computing
              users                  401       >99 %       0.5       40B        0
              views/pr…cts/_row      150 ±4 %   67 %        50      244K        2       41ms
              weird\\x1B                0                     0        0B        0
              (others)                10       100 %         0        0B        0
          TEXT
          assert_equal [*expected, *([""] * 12), FOOTER], screen.map(&:rstrip)
          assert_equal({ 0 => :bold, 6 => :reverse, 23 => :dim },
                       lines.each_with_index.filter_map { |(_, style), row| [row, style] if style }.to_h)
        end

        test "a wide screen has all columns" do
          assert_equal <<~TEXT, screen("m", columns: 120)[5, 3].map { |line| "#{line.rstrip}\n" }.join
            Keyspaces in the last 10 seconds, by misses, largest first
              keyspace             reads/s       share   hits  MISSES/S  stored/s  evict/s  after  computing
              views/products/_row      150 ±4 %   27 %   67 %        50      244K        2   3h3m       41ms
          TEXT
        end

        test "every screen fits its window" do
          views = [[], ["k"], ["?"], [" "], ["h", :arrow]]
          [[24, 80], [8, 40], [10, 200], [60, 60]].product(views).each do |(rows, columns), keys|
            shown = screen(*keys, rows: rows, columns: columns)
            assert_equal rows, shown.size
            shown.each { |line| assert_operator Brief.columns(line), :<=, columns, line }
          end
          assert_equal [["The window", nil]], lines(rows: 24, columns: 10)
        end

        test "hot keys, and back" do
          assert_equal [Stat::TopKeys::HOT, "  key       reads  value  last seen",
                        "  users/17  41.2k   812B     3s ago"], screen("k")[5, 3]
          assert_equal screen, screen("k", "k")
        end

        test "the help names each key" do
          help = screen("?").join("\n")
          [*Choices::ORDERS.keys, "k", "q", "space", "arrow"].each { |key| assert_match(/^  #{key} /, help) }
          assert_match(/age of evicted items\.$/, help)
          assert_equal "Press a key to go back.", screen("?").last
        end

        test "a pause is shown" do
          assert_match(/ PAUSED  10:41:07\z/, screen(" ").first)
        end

        test "the first screen has no rates yet" do
          shown = screen(history: history([100.0, STATS, Statistics.new(Usages.usage, nil)]))
          assert_equal ["hits: now -   last hour -   last day -", "per second: - reads   - stores   - evictions", "",
                        "Counting what keyspaces do ..."], shown[2, 4]
        end

        test "without statistics it says why, and shows the rest" do
          shown = screen(history: history([100.0, STATS, Statistics.new(nil, "#{"long " * 20}reason\e")]))
          assert_equal "hits: now -   since the file was made 94 %", shown[2]
          assert_equal ["No statistics by keyspace:", "  #{"long " * 15}".rstrip,
                        "  long long long long long reason\\x1B"], shown[5, 3]
        end
      end
    end
  end
end
