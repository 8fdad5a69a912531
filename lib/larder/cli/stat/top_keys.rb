# frozen_string_literal: true

# `larder stat --top-keys`: the most read and the largest keys of a sample.

require_relative "../columns"
require_relative "../inspection"

module Larder
  module CLI
    class Stat
      # Keys that are read often, and keys whose values are large.
      class TopKeys
        MOST = 20
        # Above the most read keys.
        HOT = "Most read keys of a sample; -20 %: the reads may be 20 % fewer"
        private_constant :MOST

        # @param usage [Usage]
        # @param now [Time]
        # @param most [Integer] keys of a list
        def initialize(usage, now: Time.now, most: MOST)
          @usage = usage
          @now = now
          @most = most
        end

        # @param width [Integer] columns
        # @return [Array<String>]
        def lines(width)
          [HOT, "", *hot(width), "",
           "Largest values of a sample of the last day", "", *heavy(width)]
        end

        # @param width [Integer] columns
        # @return [Array<String>] the table of keys that are read most; without those whose count may be mostly
        #   that of keys which had their place before
        def hot(width)
          keys = @usage.hot.select { |key| key.error <= key.weight / 2 }.first(@most)
          list(keys, width) do |table|
            table.add("reads", keys.map { |key| Brief.count(key.weight) })
                 .add("", keys.map { |key| Brief.error(key.error, key.weight)&.tr("±", "-") }, gap: 1)
                 .add("value", keys.map { |key| Brief.bytes(key.value_bytes) })
          end
        end

        # @return [Hash] for machines
        def to_h
          { hot: @usage.hot, heavy: @usage.heavy }.transform_values do |keys|
            keys.map { |key| { **key.to_h, key: KeyText.shown(key.key), seen: Statistics.time(key.seen) } }
          end
        end

        private

        def heavy(width)
          keys = @usage.heavy.first(@most)
          list(keys, width) { |table| table.add("value", keys.map { |key| Brief.bytes(key.weight) }) }
        end

        def list(keys, width)
          return ["  There are none yet."] if keys.empty?

          table = Columns.new("key", keys.map { |key| name(key) })
          yield table
          table.add("last seen", keys.map { |key| "#{Brief.span([@now - key.seen, 0].max.round)} ago" })
          table.lines(width)
        end

        # A key longer than its beginning ends in dots.
        def name(key)
          KeyText.shown(key.key) + ("…" if key.key_bytes > key.key.bytesize).to_s
        end
      end
    end
  end
end
