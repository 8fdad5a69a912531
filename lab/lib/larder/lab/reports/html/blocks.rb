# frozen_string_literal: true

require_relative "curve_chart"
require_relative "interval_chart"
require_relative "markup"
require_relative "stacked_chart"
require_relative "tables"

module Larder
  module Lab
    module Reports
      class Html
        # The blocks of a section as HTML.
        class Blocks
          # Widths of the two drawings of each chart, of which the style sheet shows one: drawings scale, but letters
          # that shrink with them cannot be read on a telephone.
          WIDTHS = { "wide" => 720, "narrow" => 330 }.freeze
          CHARTS = { "intervals" => IntervalChart, "curves" => CurveChart, "stacked" => StackedChart }.freeze
          # Rows of a chart's table; of more, so many that lie evenly among them. JSON has all.
          ROWS = 60
          private_constant :WIDTHS, :CHARTS, :ROWS

          # @param id [String] of the section
          # @param title [String] of the section
          # @param level [Integer] of the headings of charts
          def initialize(id, title, level)
            @id = id
            @title = title
            @level = level
            @charts = 0
          end

          # @param block [Document::Block]
          # @return [Markup::Raw]
          def to_html(block)
            case block.kind
            when "table" then Tables.new(block, label: @title).to_html
            when "list" then tag(:ul, block.items.map { |item| tag(:li, Markup.words(item)) })
            when "prose" then tag(:p, Markup.words(block.text))
            when "code" then code(block)
            else chart(block)
            end
          end

          private

          def tag(...)
            Markup.tag(...)
          end

          def code(block)
            text = tag(:code, block.text.chomp)
            tag(:pre, text, class: "scroll", tabindex: 0, role: "region",
                            aria_label: "#{block.language || "text"} to copy")
          end

          def chart(block)
            id = "#{@id}-c#{@charts += 1}"
            heading = tag(:"h#{@level}", Markup.words(block.title.to_s))
            drawings = WIDTHS.map do |name, width|
              CHARTS.fetch(block.kind).new(block, width).canvas
                    .svg(id: "#{id}-#{name}", title: block.title.to_s, description: block.sentence.to_s, class: name)
            end
            tag(:figure, tag(:figcaption, heading, tag(:p, Markup.words(block.sentence.to_s))), drawings, data(block),
                id: id)
          end

          def data(block)
            table = thinned(block.data)
            tag(:details, tag(:summary, "Figures of this chart"),
                Tables.new(table, label: "Figures of #{block.title}").to_html)
          end

          def thinned(table)
            rows = table.rows
            return table if rows.size <= ROWS

            shown = (0...ROWS).map { |index| rows[index * (rows.size - 1) / (ROWS - 1)] }
            note = "#{ROWS} of #{Figures.thousands(rows.size)} rows; the run's JSON has all."
            Document::Table.build(columns: table.columns, rows: shown, caption: table.caption, notes: [note])
          end
        end
      end
    end
  end
end
