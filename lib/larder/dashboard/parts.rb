# frozen_string_literal: true

# Parts that pages share: tables, facts, meters.

require_relative "../inspection/brief"
require_relative "../inspection/key_text"
require_relative "../inspection/words"

module Larder
  class Dashboard
    # Each writes to the document that it is given.
    # @api private
    module Parts
      Words = Inspection::Words
      Brief = Inspection::Brief
      KeyText = Inspection::KeyText

      # A column of a table. `heading`; `kind`: :text, :number, or on a narrow screen a whole line: "number line" with
      # the heading, "text wide" without it. `sort` gets the row, and returns the number that its rows are sorted by;
      # nil: they are sorted by their text. `write` gets the document and the row.
      Column = Struct.new(:heading, :kind, :sort, :write)

      private

      # @param heading [String]
      # @param kind [Symbol, String] see {Column}
      # @param sort [Proc, nil] see {Column}
      # @yieldparam html [Html]
      # @yieldparam row [Object]
      # @yieldreturn [String, Object] a String is written; the block may write by itself
      def column(heading, kind = :text, sort: nil, &block)
        Column.new(heading, kind, sort, block)
      end

      # Rows become cards on a narrow screen. The first column names the row.
      #
      # @param html [Html]
      # @param caption [String] for screen readers
      # @param columns [Array<Column>]
      # @param rows [Array]
      def table(html, caption, columns, rows)
        html.table(class: "rows", data: { sortable: true }) do
          html.caption(caption, class: "unseen")
          html.thead { html.tr { columns.each { |one| html.th(one.heading, scope: "col", class: one.kind) } } }
          html.tbody { rows.each { |row| table_row(html, columns, row) } }
        end
      end

      def table_row(html, columns, row)
        html.tr do
          columns.each_with_index do |one, number|
            attributes = { class: one.kind, data: { label: one.heading, sort: one.sort&.call(row) } }
            write = lambda do
              written = one.write.call(html, row)
              html.text(written) if written.is_a?(String)
            end
            number.zero? ? html.th(scope: "row", **attributes, &write) : html.td(**attributes, &write)
          end
        end
      end

      # @param html [Html]
      # @param pairs [Array<Array(String, String)>] names and texts
      def facts(html, pairs)
        html.dl(class: "facts") do
          pairs.each do |name, text|
            html.div do
              html.dt(name)
              html.dd(text)
            end
          end
        end
      end

      # Links to the same page with another value of a parameter.
      #
      # @param html [Html]
      # @param label [String] for screen readers
      # @param links [Hash{String=>String}] texts and paths
      # @param chosen [String, nil] the text of the present one
      def choices(html, label, links, chosen)
        html.nav(aria: { label: label }) do
          html.ul(class: "choices") do
            links.each do |text, path|
              html.li { html.a(text, href: path, aria: { current: ("page" if text == chosen) }) }
            end
          end
        end
      end

      # A bar of 0 to 1, with its words.
      def bar(html, share, label)
        html.meter(class: "bar", min: "0", max: "1", value: share.round(3), aria: { label: label })
      end
    end
  end
end
