# frozen_string_literal: true

# Shows how much memory the servers took, before the first block and after the last.

require_relative "../document"

module Larder
  module Lab
    module SuiteReport
      # The table of servers that the lab has started.
      module ServerMemory
        NOTES = ["Resident memory of a server and all processes that it has started, what they share counted once; " \
                 "median of sessions and copies."].freeze
        private_constant :NOTES

        module_function

        # @param recorded [Hash{String=>Hash}] row => what a run has recorded of it
        # @return [Document::Table, nil] nil if no row has such a server
        def table(recorded)
          rows = recorded.filter_map { |row, facts| [row, *cells(facts["memory"])] if facts.dig("memory", "after") }
          return if rows.empty?

          Document::Table.build(caption: "Memory of servers", rows: rows.sort_by { |row| row[2] }, notes: NOTES,
                                columns: [{ title: "" }, { title: "before", format: "bytes" },
                                          { title: "after", format: "bytes" }, { title: "growth", format: "bytes" }])
        end

        # @param memory [Hash{String=>Array<Integer>}] bytes "before" and "after", in the same order
        # @return [Array<Integer>]
        def cells(memory)
          before, after = memory.values_at("before", "after")
          growth = after.zip(before).map { |one, other| one - other }
          [before, after, growth].map { |values| values.sort[(values.size - 1) / 2] }
        end
        private_class_method :cells
      end
    end
  end
end
