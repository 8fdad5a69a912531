# frozen_string_literal: true

# The lines of the screen of `larder top`.

require_relative "../columns"
require_relative "../inspection"
require_relative "../stat/top_keys"
require_relative "choices"
require_relative "history"

module Larder
  module CLI
    class Top
      # The page of a history and choices. It draws nothing, and has no state.
      class Page
        HOUR = 3600
        DAY = 86_400
        # Below it nothing can be shown.
        LEAST = [8, 40].freeze
        BAR = 20
        # The column of each order.
        HEADS = { "r" => "reads/s", "m" => "misses/s", "h" => "hits", "b" => "stored/s", "e" => "evict/s",
                  "c" => "computing" }.freeze
        HELP = [
          *Choices::ORDERS.map { |key, order| "  #{key}        sorts by #{order.label}; again: the other way round" },
          "  arrow    sorts the other way round",
          "  k        most read keys, and back to keyspaces",
          "  space    stops and goes on",
          "  ?        this help",
          "  q        ends",
          "",
          "Rates of the whole cache are exact. Those of keyspaces come from a sample if",
          "there are many calls. Computing: the mean time from a miss to the store of the",
          "same key; after: the mean age of evicted items."
        ].freeze
        FOOTER = "q quit  ? help  space pause  k keys  sort: r m h b e c, arrow: reverse"
        BACK = "Press a key to go back."
        private_constant :HOUR, :DAY, :LEAST, :BAR, :HEADS, :HELP, :FOOTER, :BACK

        # @param path [String]
        # @param history [History] with a reading at least
        # @param choices [Choices]
        def initialize(path, history, choices)
          @path = path
          @history = history
          @choices = choices
          @reading = history.last
          @stats = @reading.stats
          @usage = @reading.statistics.usage
        end

        # @param rows [Integer]
        # @param columns [Integer]
        # @return [Array<Array(String, Symbol)>] a text with its style or nil for each row
        def lines(rows, columns)
          return [["The window is too small."[0, columns], nil]] if rows < LEAST.first || columns < LEAST.last

          top = [*header(columns), ["", nil]]
          body = (@choices.help ? HELP.map { |text| [text, nil] } : view(columns)).first(rows - top.size - 1)
          rest = [["", nil]] * (rows - top.size - body.size - 1)
          [*top, *body, *rest, [@choices.help ? BACK : FOOTER, :dim]].map { |text, style| [cut(text, columns), style] }
        end

        private

        def header(columns)
          time = "#{"PAUSED  " if @choices.paused}#{@reading.now.strftime("%H:%M:%S")}"
          room = columns - time.size - 2
          [["#{Brief.fitted(KeyText.shown(@path), room)}  #{time}", :bold],
           ["[#{Brief.bar(@stats[:fullness], BAR)}] #{Words.percent(@stats[:fullness])} of " \
            "#{Words.bytes(@stats[:size_bytes])}   #{Words.counted(@stats[:items], "item")}   " \
            "#{@reading.pids.size} process#{"es" unless @reading.pids.size == 1}", nil],
           [hits, nil],
           [rates, nil]]
        end

        def hits
          now = @history.rates&.hit_ratio
          times = { "now" => now, "since the file was made" => @stats[:hit_ratio] }
          if @usage
            hour, day = [HOUR, DAY].map { |seconds| @usage.last(seconds, now: @reading.now) }
            times = { "now" => now, "last hour" => hour.whole.hit_ratio, "last day" => day.whole.hit_ratio }
            saved = "   saved #{Brief.span(day.saved)} of computing" if day.saved >= 1
          end
          "hits: #{times.map { |time, ratio| "#{time} #{ratio ? Words.percent(ratio) : "-"}" }.join("   ")}#{saved}"
        end

        def rates
          rates = @history.rates
          figures = { reads: rates&.reads, stores: rates&.stores, evictions: rates&.evictions }
          "per second: #{figures.map { |name, rate| "#{rate ? Brief.rate(rate) : "-"} #{name}" }.join("   ")}"
        end

        def view(columns)
          return no_statistics(columns) unless @usage

          @choices.keys ? keys(columns) : keyspaces(columns)
        end

        # The reason can be longer than a line.
        def no_statistics(columns)
          words = KeyText.shown(@reading.statistics.problem).gsub(/(.{1,#{columns - 3}})(?: +|\z)/, "\\1\n")
          [["No statistics by keyspace:", nil], *words.lines(chomp: true).map { |line| ["  #{line}", nil] }]
        end

        def keys(columns)
          head, *lines = Stat::TopKeys.new(@usage, now: @reading.now, most: 1000).hot(columns)
          [[Stat::TopKeys::HOT, nil], [head, (:reverse if lines.any?)],
           *lines.map { |line| [line, nil] }]
        end

        def keyspaces(columns)
          time, rows = @history.keyspaces
          return [[time ? "No keyspace was used #{time}." : "Counting what keyspaces do ...", nil]] if rows.empty?

          order = Choices::ORDERS.fetch(@choices.order)
          head, *lines = table(@choices.sorted(rows)).lines(columns)
          first = @choices.descending ? "largest" : "smallest"
          [["Keyspaces #{time}, by #{order.label}, #{first} first", nil], [head.ljust(columns), :reverse],
           *lines.map { |line| [line, nil] }]
        end

        def table(rows)
          reads = rows.sum { |row| row.counts.reads }
          cells = ->(&block) { rows.map { |row| block.call(row) } }
          Columns.new("keyspace", rows.map { |row| row.name ? KeyText.shown(row.name) : "(others)" })
                 .add(head("r"), cells.call { |row| Brief.rate(row.rates[:reads]) })
                 .add("", cells.call { |row| Brief.error(row.counts.reads_error, row.counts.reads) }, gap: 1)
                 .add("share", cells.call { |row| reads.positive? ? Words.percent(row.counts.reads.fdiv(reads)) : nil },
                      extra: 2)
                 .add(head("h"), cells.call { |row| row.counts.hit_ratio && Words.percent(row.counts.hit_ratio) })
                 .add(head("m"), cells.call { |row| Brief.rate(row.rates[:misses]) })
                 .add(head("b"), cells.call { |row| Brief.bytes(row.rates[:stored_bytes]) })
                 .add(head("e"), cells.call { |row| Brief.rate(row.rates[:evictions]) })
                 .add("after", cells.call { |row| Brief.span(row.counts.mean_evicted_age) }, extra: 3)
                 .add(head("c"), cells.call { |row| Brief.span(row.counts.mean_compute) })
        end

        # The table is sorted by the column in capitals.
        def head(order)
          head = HEADS.fetch(order)
          @choices.order == order ? head.upcase : head
        end

        def cut(text, columns)
          Brief.columns(text) <= columns ? text : Brief.fitted(text, columns)
        end
      end
    end
  end
end
