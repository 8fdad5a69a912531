# frozen_string_literal: true

require_relative "../document"
require_relative "../reports/figures"

module Larder
  module Lab
    module Layered
      # How figures and rows are written in the report of `larder-lab layered`.
      module Words
        SHORT = { "bare" => "alone", "copies" => "Larder", "backplane" => "+ backplane" }.freeze
        private_constant :SHORT

        private

        def duration(seconds)
          Reports::Figures.duration(seconds)
        end

        def percent(share)
          Reports::Figures.percent(share)
        end

        def count(number)
          Reports::Figures.thousands(Reports::Figures.significant_integer(number))
        end

        def times(number)
          Reports::Figures.significant(number)
        end

        # Of a remote store.
        def trip(rtt)
          rtt.positive? ? duration(rtt) : "local"
        end

        # As the beginning of a sentence.
        def place(rtt)
          rtt.positive? ? "At a round trip of #{duration(rtt)}" : "On the same machine"
        end

        # In a table whose heading names the remote store.
        def short(arrangement)
          SHORT.fetch(arrangement)
        end

        def title(arrangement, remote = "redis")
          format(Arrangement::TITLES.fetch(arrangement), remote)
        end

        def section(title, *blocks)
          blocks = blocks.compact
          Document::Section.new(title: title, blocks: blocks) if blocks.any?
        end

        def table(columns, rows, caption: nil, notes: [])
          return if rows.empty?

          columns = columns.map { |name, form, optional| { title: name, format: form, optional: optional } }
          Document::Table.build(columns: columns, rows: rows, caption: caption, notes: notes)
        end
      end
    end
  end
end
