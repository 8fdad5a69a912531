# frozen_string_literal: true

require "yaml"

module Larder
  module Lab
    # Published comparisons, by the chapters that repeat them. The lab measured none of these figures, and shows its own
    # with them.
    # @api private
    module Published
      FILE = File.expand_path("published.yml", __dir__)
      # The factor of a step that was taken, and not measured by itself.
      NOT_GIVEN = "not given"
      # Published figures are rounded, and so is the ratio of two: nearer than this is alike.
      ROUNDING = 1.05

      # A statement about a block of the suite: `faster` was `factor` times as fast as `slower`. The factor is "more" or
      # "far more" where no number was published, "recommended" where a choice was, {NOT_GIVEN} where nothing was, and
      # nil, or nearer to 1 than {ROUNDING}, where both were alike. One side may be several rows; all of them are meant.
      # `slower_block` is the block of the slower side where it is another one, or several; `label` is the name of a
      # finding that its rows and block do not name. `figure` is what is compared in place of times: `faster` has less
      # of it. A row of the file that names several blocks stands for a finding of each.
      Finding = Struct.new(:faster, :slower, :block, :factor, :slower_block, :label, :figure, keyword_init: true) do
        def self.of(row) = Array(row[2]).map { |block| new(**members.zip(row).to_h, block: block).freeze }

        # @return [String] how they compared, in a cell
        def words = factor.is_a?(Numeric) ? "#{factor.to_s.delete_suffix(".0")} ×" : factor || "alike"

        def alike? = factor.nil? || (factor.is_a?(Numeric) && factor.between?(1 / ROUNDING, ROUNDING))

        # @return [Array<Array(String, String, String)>] the pairs of a faster and a slower row, with the block of that
        def pairs = Array(faster).product(Array(slower), Array(slower_block || block))
      end

      # A column of a published table: its figures are written in `format`, and measured in the blocks `of` (nil: in
      # none); they are times, or the figure of these blocks that is called `here`.
      Column = Struct.new(:title, :format, :of, :here, keyword_init: true) do
        # @return [Boolean] whether the greater figure is the better one
        def rate? = format == "rate"
      end

      # A published table. rows: name of the row in the suite => name in the article, and a figure for each column;
      # calls: a figure is the time of that number; ratio: nil, or two rows: the table has a line for each column then,
      # with their figures and ratio.
      Table = Struct.new(:caption, :columns, :rows, :calls, :ratio, keyword_init: true) do
        def self.from_h(hash)
          columns = hash["columns"].map { |column| Column.new(**column.transform_keys(&:to_sym)) }
          new(calls: 1, **hash.transform_keys(&:to_sym), columns: columns)
        end

        # In each column, each row and the next worse one, and the best and the worst, as they compare in each block.
        def findings
          columns.each_with_index.select { |column, _| column.of }.flat_map do |column, at|
            figures = rows.transform_values { |_, *all| all[at] }.compact.sort_by(&:last)
            figures.reverse! if column.rate?
            pairs = [*figures.each_cons(2), figures.values_at(0, -1)].uniq
            pairs.flat_map { |pair| column.of.map { |block| finding(pair, block, column) } }
          end
        end

        private

        def finding(((better, one), (worse, other)), block, column)
          factor = column.rate? ? one.fdiv(other) : other.fdiv(one)
          Finding.new(faster: better, slower: worse, block: block, figure: column.here,
                      factor: (factor.round(2) if factor >= ROUNDING))
        end
      end

      # One published comparison: source, remarks without a figure, findings, tables; short: names of rows in findings;
      # totals: "calls" of a run, and "blocks"; wire: "payload" of the compressors; trace: its "file", and the number of
      # "requests" that identifies it.
      Article = Struct.new(:source, :remarks, :findings, :tables, :short, :totals, :wire, :trace, keyword_init: true) do
        def self.from_h(hash)
          tables = hash.fetch("tables", []).map { |table| Table.from_h(table) }
          given = hash.fetch("findings", []).flat_map { |row| Finding.of(row) }
          new(remarks: [], short: {}, **hash.transform_keys(&:to_sym), tables: tables,
              findings: given + tables.flat_map(&:findings))
        end
      end

      def self.of(chapter) = articles[chapter]

      def self.articles
        @articles ||= YAML.safe_load_file(FILE, aliases: true).transform_values { |hash| Article.from_h(hash) }
      end
    end
  end
end
