# frozen_string_literal: true

# The choices of the user of `larder top`, made by keys.

module Larder
  module CLI
    class Top
      # Order of the table, view, pause.
      class Choices
        # An order: `label` in the footer and the help, `descending` at first.
        Order = Struct.new(:label, :descending, :value)
        # Orders, each with its key.
        ORDERS = {
          "r" => Order.new("reads", true, ->(row) { row.rates[:reads] }),
          "m" => Order.new("misses", true, ->(row) { row.rates[:misses] }),
          "h" => Order.new("hit ratio", false, ->(row) { row.counts.hit_ratio }),
          "b" => Order.new("bytes stored", true, ->(row) { row.rates[:stored_bytes] }),
          "e" => Order.new("evictions", true, ->(row) { row.rates[:evictions] }),
          "c" => Order.new("computing", true, ->(row) { row.counts.mean_compute })
        }.freeze

        # @return [String] key of {ORDERS}
        attr_reader :order
        # @return [Boolean]
        attr_reader :descending, :paused, :keys, :help

        def initialize
          choose("r")
          @paused = @keys = @help = false
        end

        # @param key [String, Symbol] of {FullScreen#wait}
        # @return [Symbol, nil] :quit
        def press(key)
          return :quit if ["q", "Q", :closed].include?(key)

          if @help then @help = false
          elsif ORDERS.key?(key) then choose(key)
          elsif key == :arrow then @descending = !@descending
          elsif key == "?" then @help = true
          elsif key == "k" then @keys = !@keys
          elsif key == " " then @paused = !@paused
          end
          nil
        end

        # @param rows [Array<Row>]
        # @return [Array<Row>] that of all other keyspaces last, before it those whose value is not known
        def sorted(rows)
          value = ORDERS.fetch(@order).value
          others, named = rows.partition { |row| row.name.nil? }
          known, unknown = named.sort_by(&:name).partition { |row| value[row] }
          known = known.each_with_index.sort_by { |row, index| [@descending ? -value[row] : value[row], index] }
          [*known.map(&:first), *unknown, *others]
        end

        private

        def choose(key)
          @descending = @order == key && !@keys ? !@descending : ORDERS.fetch(key).descending
          @order = key
          @keys = false
        end
      end
    end
  end
end
