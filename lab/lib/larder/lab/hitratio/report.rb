# frozen_string_literal: true

# Owns what is printed and written of a replay.

require "json"
require_relative "replay"
require_relative "../reports"
require_relative "../version"

module Larder
  module Lab
    module Hitratio
      # Rows of outcomes as text for people and as JSON.
      class Report
        FORMAT = 1
        NOTHING = "–"

        # @param rows [Array<Row>]
        def initialize(rows)
          @rows = rows
          @policies = rows.first.outcomes.map(&:policy)
        end

        # @return [String] a table for each trace, and one over all
        def to_s
          [*@rows.group_by(&:trace).flat_map { |name, rows| [*trace(name, rows), ""] }, *summary].join("\n")
        end

        # @return [String]
        def json
          JSON.pretty_generate(format: FORMAT, version: VERSION, ruby: RUBY_DESCRIPTION, rows: @rows.map do |row|
            row.to_h.merge(outcomes: row.outcomes.map { |outcome| numbers(row, outcome) })
          end)
        end

        # Of the way from LRU to Belady, over all rows in which the two differ.
        # @param policy [String]
        # @return [Float, nil] the mean
        def mean_way(policy)
          ways = @rows.filter_map { |row| row.way(policy) }
          ways.sum / ways.size unless ways.empty?
        end

        # @param policy [String]
        # @return [Float, nil] the largest excess over LRU's miss ratio, negative where there is none
        def worst(policy)
          @rows.filter_map { |row| above_lru(row, policy) }.max
        end

        private

        def numbers(row, outcome)
          outcome.to_h.compact.merge(miss_ratio: row.miss_ratio(outcome.policy),
                                     byte_miss_ratio: outcome.missed_bytes.fdiv(row.requested_bytes),
                                     way: row.way(outcome.policy))
        end

        def above_lru(row, policy)
          lru = row.miss_ratio("lru")
          lru && (row.miss_ratio(policy) - lru)
        end

        def trace(name, rows)
          table = Reports::Table.new(:left, :right, :left, :right, :right, :right)
          table.row("size", "bytes", "policy", "misses", "to LRU", "way")
          rows.each do |row|
            @policies.each_with_index do |policy, at|
              place = at.zero? ? [row.size, grouped(row.capacity)] : ["", ""]
              table.row(*place, policy, percent(row.miss_ratio(policy)), points(above_lru(row, policy)),
                        share(row.way(policy)))
            end
          end
          ["#{name}: #{grouped(rows.first.requests)} requests", *chosen_sizes(rows), "", *indented(table)]
        end

        def chosen_sizes(rows)
          return [] unless rows.first.object_bytes

          sizes = rows.map { |row| "#{row.object_bytes} at #{row.size}" }
          ["The trace does not say how large objects are; taken as #{sizes.join(", ")} bytes."]
        end

        def summary
          table = Reports::Table.new(:left, :right, :right)
          table.row("policy", "mean way", "worst to LRU")
          @policies.each { |policy| table.row(policy, share(mean_way(policy)), points(worst(policy))) }
          ["All traces and sizes: #{@rows.size}", "", *indented(table)]
        end

        def indented(table)
          table.lines(width: nil).map { |line| "  #{line}" }
        end

        def percent(ratio)
          format("%.2f %%", ratio * 100)
        end

        def points(difference)
          difference ? format("%+.2f", difference * 100) : NOTHING
        end

        def share(way)
          way ? format("%.0f %%", way * 100) : NOTHING
        end

        def grouped(number)
          number.to_s.gsub(/(\d)(?=(\d{3})+\z)/, "\\1,")
        end
      end
    end
  end
end
