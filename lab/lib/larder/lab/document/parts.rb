# frozen_string_literal: true

# The parts of a document: chapters, in them sections and measures, and in sections tables, charts, lists, prose and
# code. They are plain data, so that they can be written as JSON and read again. The formats in reports/ decide how they
# look.

module Larder
  module Lab
    Document = Struct.new(:larder_lab, :command, :command_line, :elapsed_seconds, :environment, :chapters,
                          keyword_init: true)
    class Document
      # Makes parts, and plain data of them. The parts of a part may be given as Hashes, as JSON has them.
      module Part
        # The classes of fields that are lists of parts, in which nil is passed over, and of those that are one, or nil.
        LISTS = { chapters: :Chapter, sections: :Section, measures: :Measure, blocks: :Block,
                  columns: :Column }.freeze
        ONES = { answer: :Answer, chart: :Block, x: :Axis, y: :Axis }.freeze
        # The classes of blocks, by their names in JSON.
        KINDS = %i[Table Curves List Prose Code].to_h { |type| [type.to_s.downcase, type] }.freeze
        private_constant :LISTS, :ONES, :KINDS

        # @param type [Symbol] the name of a class of parts, or :Block
        # @return [Part, nil] fields that are not known are passed over
        def self.of(type, given)
          return given if given.nil? || given.is_a?(Part)

          fields = given.transform_keys(&:to_sym)
          type = KINDS.fetch(fields[:kind]) if type == :Block
          Document.const_get(type).then { |part| part.new(**fields.slice(*part.members)) }
        end

        # @param fields [Hash] of the class
        def initialize(**fields)
          LISTS.slice(*fields.keys).each do |name, type|
            fields[name] = fields[name].compact.map { |each| Part.of(type, each) }
          end
          ONES.slice(*fields.keys).each { |name, type| fields[name] = Part.of(type, fields[name]) }
          super
        end

        # @return [Hash{Symbol=>Object}] plain data
        def to_h
          super.merge((LISTS.keys & members).to_h { |name| [name, self[name].map(&:to_h)] },
                      (ONES.keys & members).to_h { |name| [name, self[name]&.to_h] })
        end
      end

      # A part of a section.
      module Block
        include Part

        # @return [String] the name that stands in JSON
        def kind = self.class.name[/\w+\z/].downcase

        # @return [Hash] plain data, with the kind
        def to_h = { kind: kind, **super }
      end

      # A heading with blocks under it. headline: true for what a reader wants first; a page begins with it, a terminal
      # ends with it. folded: true for details, which a page shows when its reader asks.
      Section = Struct.new(:title, :headline, :folded, :blocks, keyword_init: true) do
        include Part

        def initialize(title:, blocks:, headline: false, folded: false) = super
      end

      # One column of a table. format: how its numbers are written (see {Reports::Figures}), nil for words; group: a
      # heading over neighbours; all groups of a table have as many; plot: "linear" or "log", the scale of a drawing
      # next to figures.
      Column = Struct.new(:title, :format, :group, :plot, keyword_init: true) do
        include Part

        # @return [Hash]
        def to_h = super.compact
      end

      # Cells are Strings, which are shown as they are, numbers in the format of their column, true and false, nil, or
      # an interval: `{ "value" =>, "low" =>, "high" =>, "same" =>, "verdict" =>, "dots" => }`, where "same" says that
      # no difference is shown, "verdict", if any, is that of Bench::Verdict, and "dots" are raw samples. A row that is
      # shorter than the table ends in words that run to the edge: why there are no figures.
      #
      # caption: what the table shows; columns: {Column}s, titles, or titles with formats; rows: Arrays of cells; notes:
      # sentences under it.
      Table = Struct.new(:caption, :columns, :rows, :notes, keyword_init: true) do
        include Block

        def initialize(columns:, rows:, caption: nil, notes: [])
          columns = columns.map { |title, format| title.is_a?(String) ? { title: title, format: format } : title }
          rows, notes = rows.map(&:to_a), notes.to_a
          super
        end

        # @param at [Integer] a column
        # @return [Boolean] whether it has words
        def words?(at) = at.zero? || columns[at].format.nil?

        # @param at [Integer] a column
        # @return [Boolean] whether its cells begin at the left: words and ratios do, and other figures do not
        def left?(at) = words?(at) || columns[at].format == "ratio"

        # @return [Array<Array>] without those that end in words
        def full_rows = rows.select { |row| row.size == columns.size }
      end

      # An axis. scale: "linear", "log" or "percentile" (of a share from 0 to 1: 0.9, 0.99, 0.999 lie equally far
      # apart); format: of its numbers, see {Reports::Figures}.
      Axis = Struct.new(:title, :scale, :format, keyword_init: true) do
        include Part

        def initialize(title: nil, scale: "linear", format: nil) = super
      end

      # Lines through points. series: `{ "label" =>, "points" => [[x, y], …] }`.
      Curves = Struct.new(:title, :sentence, :x, :y, :series, keyword_init: true) do
        include Block

        def initialize(x:, y:, series:, **words) = super(x: x.to_h, y: y.to_h, series: series.map(&:to_h), **words)

        # @return [Table] a row for each x, a column for each series
        def data
          points = series.map { |line| line["points"].to_h }
          rows = points.flat_map(&:keys).uniq.sort.map { |at| [at, *points.map { |line| line[at] }] }
          Table.new(columns: [[x.title, x.format], *series.map { |line| [line["label"], y.format] }],
                    caption: y.title, rows: rows)
        end
      end

      # Sentences, each by itself. items: Array of Strings.
      List = Struct.new(:items, keyword_init: true) { include Block }

      # A paragraph.
      Prose = Struct.new(:text, keyword_init: true) { include Block }

      # Something to paste. language: "ruby", "yaml", "sh".
      Code = Struct.new(:text, :language, keyword_init: true) { include Block }

      # The first screen of a report. sentences: `{ "about" => a kind of application, "text" =>, "verdict" => of
      # Bench::Verdict, or nil }`, for a reader who reads nothing else; chart: a block, or nil.
      Answer = Struct.new(:sentences, :chart, keyword_init: true) do
        include Part

        # @return [Array<String>] each with its kind of application in front
        def lines = sentences.map { |sentence| "#{sentence["about"]}: #{sentence["text"]}" }
      end

      # One measured quantity, which `compare` compares with the same quantity of another run. key: stands for the same
      # quantity in every run: suite, block and row, as "published-a/hit/redis", or suite, block, figure and row, as
      # "scaling/threads/4/redis"; label: for people; unit: "seconds", "bytes", "per second", "share" or "count";
      # better: "lower" or "higher"; samples: one for each session of a time, process of a figure, or round.
      Measure = Struct.new(:key, :label, :unit, :better, :samples, keyword_init: true) { include Part }

      # What one command found out. key: its name; title; lead: what was done, in a sentence or two; facts: how it was
      # run, short ("n = 10,000", "5 sessions", "seed 7"); conclusions: what follows, in sentences with figures;
      # warnings: reasons for not believing it; sections: {Section}s; measures: {Measure}s; failed: whether a value was
      # wrong or nothing could be measured; failures: row, block and reason of each; details: raw samples and settings
      # as plain data, in a shape of the command's own; answer: the {Answer} of a chapter that has one.
      Chapter = Struct.new(:key, :title, :lead, :facts, :conclusions, :warnings, :sections, :measures, :failed,
                           :failures, :details, :answer, keyword_init: true) do
        include Part

        def initialize(key:, title:, lead: nil, facts: [], conclusions: [], warnings: [], sections: [], measures: [],
                       failed: false, failures: [], details: {}, answer: nil)
          super
        end

        # @return [Boolean]
        def failed? = failed == true

        # @return [Array<Section>] as a page has them: headlines first
        def reading_order = sections.partition(&:headline).flatten(1)

        # @return [Array<Section>] as a terminal has them: the first headline last, on the screen when the run has ended
        def scrolling_order
          headlines, others = sections.partition(&:headline)
          others + headlines.reverse
        end
      end
    end
  end
end
