# frozen_string_literal: true

# Adds to a chapter of a suite: the fragments that the first requests of a process compute again.

require_relative "chapter"

module Larder
  module Lab
    module SuiteReport
      # The chapter of first requests.
      class DeployChapter < Chapter
        private

        def sections
          return super unless @findings.base

          first, *others = super
          [section("The first requests of a process", requests, headline: true), first, *others]
        end

        def requests
          columns = @plan.blocks.flat_map do |block|
            counted(block, { title: block.short, format: "seconds" }, { title: "computed", format: "integer" })
          end
          rows = @findings.ranking(@plan.blocks.first).map { |row| [row, *@plan.blocks.flat_map { |b| cells(row, b) }] }
          Document::Table.build(columns: [{ title: "" }, *columns], rows: rows, notes: [note])
        end

        def note
          "The time of each of #{Suites::Deploy::REQUESTS} requests, and how many fragments they computed together. " \
            "A computation waits #{Figures.duration(Suites::Deploy::QUERIES)} for its queries."
        end

        def cells(row, block)
          counted(block, @findings.seconds(row, block), @findings.figure(row, block, "computed"))
        end

        # Later requests compute nothing.
        def counted(block, *cells)
          block.cold ? cells : cells.first(1)
        end
      end
    end
  end
end
