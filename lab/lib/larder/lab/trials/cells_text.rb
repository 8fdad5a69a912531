# frozen_string_literal: true

# Owns the report of a matrix for people: each cell end to end, and where its time goes.

require_relative "text"

module Larder
  module Lab
    module Trials
      # A row for each cell, the fastest read first.
      class CellsText < Text
        STEPS = %w[serialize compress store load decompress deserialize].freeze

        # Terminals from this width get each step; others what a read spends most on.
        WIDE = 136
        READING = %w[load decompress deserialize].freeze
        private_constant :STEPS, :WIDE, :READING

        private

        def title
          "larder-lab matrix"
        end

        def table(group, comparison)
          wide = @terminal.width >= WIDE
          table = Reports::Table.new(:left, :left, :left, *([:right] * (wide ? 9 : 4)))
          table.row("serializer", "compressor", "store", "bytes", "read", "write", *(wide ? STEPS : ["most of a read"]))
          comparison.ranking("read").each { |name| table.row(*cells(name, group, comparison, wide)) }
          table.lines(width: @room)
        end

        def cells(name, group, comparison, wide)
          serializer, compressor, store = name.split
          size = @results.size(name, group)
          last = wide ? STEPS.map { |step| micros(comparison.median(name, step)) } : [most(name, comparison)]
          [serializer, "#{compressor}#{" *" unless size.keeps}", store, Figures.thousands(size.bytes),
           *%w[read write].map { |what| micros(comparison.median(name, what)) }, *last]
        end

        def most(name, comparison)
          steps = READING.to_h { |step| [step, comparison.median(name, step) || 0.0] }
          step, seconds = steps.max_by(&:last)
          "#{step} #{(100 * seconds / steps.values.sum).round} %"
        end

        def words(group, _comparison)
          [*likeness_note(group),
           "µs a call; read and write are end to end through Rails' API, the steps were measured by themselves"]
        end

        def micros(seconds)
          seconds ? Figures.micros(seconds) : "-"
        end
      end
    end
  end
end
