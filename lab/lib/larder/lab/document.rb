# frozen_string_literal: true

require "json"
require_relative "errors"
require_relative "version"

module Larder
  module Lab
    Document = Struct.new(:larder_lab, :command, :command_line, :elapsed_seconds, :environment, :chapters,
                          keyword_init: true)

    # One run as data, which every command returns. All formats, and all commands that read a run again (`compare`,
    # `report`), know this document and nothing of the commands. larder_lab: the version of the lab; command, and
    # command_line: as it was typed; elapsed_seconds: that the run took; environment: facts of the {Environment};
    # chapters: a {Chapter} for each command that took part.
    class Document
      # Parts are structs, and plain data that can be written as JSON and read again; the formats in reports/ decide how
      # they look. The parts of a part may be given as Hashes, as JSON has them; nil is passed over in a list.
      module Part
        # The classes of fields that are a part or nil, or, in brackets, a list of parts.
        TYPES = { chapters: [:Chapter], sections: [:Section], measures: [:Measure], blocks: [:Block],
                  columns: [:Column], answer: :Answer, chart: :Block, x: :Axis, y: :Axis }.freeze
        # The classes of blocks, the parts of a section, by their kinds.
        KINDS = %i[Table Curves List Prose Code].to_h { |type| [type.to_s.downcase, type] }.freeze
        private_constant :TYPES, :KINDS

        # @param usual [Hash{Symbol=>Object}] the fields, with the values of those that are not given
        # @return [Class] of parts
        def self.with(**usual, &methods)
          Struct.new(*usual.keys, keyword_init: true) do
            include Part
            const_set(:USUAL, usual)
            class_eval(&methods) if methods
          end
        end

        # @param type [Symbol, Array<Symbol>] see TYPES
        # @return [Part, Array<Part>, nil] fields that are not known are passed over
        def self.of(type, given)
          return given.compact.map { |each| of(*type, each) } if type.is_a?(Array)
          return given if given.nil? || given.is_a?(Part)

          fields = given.transform_keys(&:to_sym)
          type = KINDS.fetch(fields[:kind]) if type == :Block
          Document.const_get(type).then { |part| part.new(**fields.slice(*part.members)) }
        end

        # @param fields [Hash] of the class
        def initialize(**fields)
          made = fields.to_h { |name, value| [name, TYPES.key?(name) ? Part.of(TYPES[name], value) : value] }
          super(**self.class::USUAL.transform_values(&:dup), **made)
        end

        # @return [Hash{Symbol=>Object}] plain data, without fields that are nil
        def to_h
          super.compact.to_h do |name, value|
            next [name, value] unless TYPES.key?(name)

            [name, value.is_a?(Array) ? value.map(&:to_h) : value.to_h]
          end
        end
      end

      include Part

      # The version is raised whenever a field changes its meaning or goes; fields may be added without.
      SCHEMA = { name: "larder-lab", version: 1 }.freeze
      USUAL = {}.freeze # see {Part}: fields that may be left out

      # The title of a report that has an answer.
      QUESTION = "How much of a request is the cache?"
      # Facts of which another value means another machine, or another Ruby.
      PLACE = %w[cpu cores memory_bytes kernel ruby].freeze
      APART = "Measured on another machine, or with another Ruby, than the first chapter: do not compare these " \
              "figures with those of other chapters."
      private_constant :PLACE, :APART

      # Stands for an answer about sessions that no chapter measured.
      SESSIONS = "Not measured in this run; `larder-lab sessions` measures them."

      # @raise [UsageError] if it is not a report of the lab, or one of another version
      def self.load(path)
        from_h(JSON.parse(File.read(path)))
      rescue SystemCallError => error
        raise UsageError, "#{path}: #{Lab.reason(error)}"
      rescue JSON::ParserError, KeyError, NoMethodError, TypeError, ArgumentError
        raise UsageError, "#{path}: not a report of larder-lab; --json FILE of any of its commands writes one"
      rescue UsageError => error
        raise UsageError, "#{path}: #{error.message}"
      end

      # @param hash [Hash{String=>Object}] as {#to_h} made it, after a trip through JSON
      # @raise [UsageError] for another schema or version
      def self.from_h(hash)
        schema = hash.fetch("schema")
        unless schema["name"] == SCHEMA[:name] && schema["version"] == SCHEMA[:version]
          raise UsageError, "schema #{schema["name"]} #{schema["version"]} is not read by this larder-lab; " \
                            "it reads #{SCHEMA[:name]} #{SCHEMA[:version]}"
        end

        new(**hash.transform_keys(&:to_sym).slice(*members))
      end

      # @param documents [Array<Document>] one or more
      # @return [Document] their chapters in this order, with the environment of the first; what was measured elsewhere
      #   says so
      def self.join(documents)
        first, *rest = documents
        return first if rest.empty?

        new(command: documents.map(&:command).uniq.join(", "),
            command_line: documents.map(&:command_line).uniq.join("; "),
            chapters: documents.flat_map { |document| document.chapters_as_seen_from(first.environment) },
            environment: first.environment, elapsed_seconds: documents.sum(&:elapsed_seconds),
            larder_lab: documents.map(&:larder_lab).uniq.join(", "))
      end

      # @param command_line [String, nil] nil: without any options
      def initialize(command:, chapters:, environment:, elapsed_seconds:, larder_lab: VERSION, command_line: nil)
        command_line ||= "larder-lab #{command}"
        environment = environment.transform_keys(&:to_s)
        super
      end

      # @param here [Hash{String=>Object}] an environment
      # @return [Array<Chapter>] with a warning if they were measured in another one
      def chapters_as_seen_from(here)
        return chapters if environment.values_at(*PLACE) == here.values_at(*PLACE)

        place = machine(*environment.values_at("kernel", "ruby"))
        chapters.map do |chapter|
          chapter.dup.tap do |copy|
            copy.facts = [*chapter.facts, "measured on #{place}"]
            copy.warnings = [*chapter.warnings, APART]
          end
        end
      end

      # @param more [Array<String, nil>] facts about it
      # @return [String] "A CPU, 2 cores", and these facts
      def machine(*more)
        cpu, cores = environment.values_at("cpu", "cores")
        [cpu, cores && "#{cores} core#{"s" if cores != 1}", *more].compact.join(", ")
      end

      # @return [Answer, nil] of the first chapter that has one, with a sentence about sessions
      def answer
        found = answering&.answer or return
        _, measured = chapters.find { |chapter| chapter.key == "published-e" }&.conclusions
        Answer.new(sentences: [*found.sentences, { "about" => "Sessions", "text" => measured || SESSIONS }],
                   chart: found.chart)
      end

      # @return [Chapter, nil] whose answer and warnings the report begins with
      def answering = chapters.find(&:answer)

      # @return [Boolean] whether something was wrong, or nothing could be measured
      def failed? = chapters.any?(&:failed?)

      # @return [Hash{Symbol=>Object}] plain data
      def to_h = { schema: SCHEMA, **super }

      # A heading with blocks under it. folded: true for details, which a page shows when its reader asks.
      Section = Part.with(title: nil, folded: false, blocks: [])

      # One column of a table. format: how its numbers are written (see {Reports::Figures}), nil for words; group: a
      # heading over neighbours; all groups of a table have as many; plot: "linear" or "log", the scale of a drawing
      # next to figures.
      Column = Part.with(title: nil, format: nil, group: nil, plot: nil)

      # Cells are Strings, which are shown as they are, numbers in the format of their column, true and false, nil, or
      # an interval: `{ "value" =>, "low" =>, "high" =>, "same" =>, "verdict" =>, "dots" => }`, where "same" says that
      # no difference is shown, "verdict", if any, is that of Bench::Verdict, and "dots" are raw samples. A row that is
      # shorter than the table ends in words that run to the edge: why there are no figures.
      #
      # caption: what the table shows; columns: {Column}s, titles, or titles with formats; rows: Arrays of cells; notes:
      # sentences under it.
      Table = Part.with(kind: "table", caption: nil, columns: [], rows: [], notes: []) do
        def initialize(columns:, rows:, **words)
          columns = columns.map { |title, format| title.is_a?(String) ? { title: title, format: format } : title }
          super(columns: columns, rows: rows.map(&:to_a), **words)
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
      Axis = Part.with(title: nil, scale: "linear", format: nil)

      # Lines through points. series: `{ "label" =>, "points" => [[x, y], …] }`.
      Curves = Part.with(kind: "curves", title: nil, sentence: nil, x: nil, y: nil, series: []) do
        def initialize(series:, **words) = super(series: series.map(&:to_h), **words)

        # @return [Table] a row for each x, a column for each series
        def data
          points = series.map { |line| line["points"].to_h }
          rows = points.flat_map(&:keys).uniq.sort.map { |at| [at, *points.map { |line| line[at] }] }
          Table.new(columns: [[x.title, x.format], *series.map { |line| [line["label"], y.format] }],
                    caption: y.title, rows: rows)
        end
      end

      # Sentences, each by itself. items: Array of Strings.
      List = Part.with(kind: "list", items: [])

      # A paragraph.
      Prose = Part.with(kind: "prose", text: nil)

      # Something to paste.
      Code = Part.with(kind: "code", text: nil)

      # The first screen of a report. sentences: `{ "about" => a kind of application, "text" =>, "verdict" => of
      # Bench::Verdict, or nil }`, for a reader who reads nothing else; chart: a block, or nil.
      Answer = Part.with(sentences: [], chart: nil) do
        # @return [Array<String>] each with its kind of application in front
        def lines = sentences.map { |sentence| "#{sentence["about"]}: #{sentence["text"]}" }
      end

      # One measured quantity, which `compare` compares with the same quantity of another run. key: stands for the same
      # quantity in every run: suite, block and row, as "published-a/hit/redis", or suite, block, figure and row, as
      # "scaling/threads/4/redis"; label: for people; unit: "seconds", "bytes", "per second", "share" or "count";
      # better: "lower" or "higher"; samples: one for each session of a time, process of a figure, or round; by_session:
      # for `compare`, one for each session, where times are multiples of the reference loop's; nil: the median counts.
      Measure = Part.with(key: nil, label: nil, unit: nil, better: nil, samples: [], by_session: nil)

      # What one command found out. key: its name; title; lead: what was done, in a sentence or two; facts: how it was
      # run, short ("n = 10,000", "5 sessions", "seed 7"); conclusions: what follows, in sentences with figures;
      # warnings: reasons for not believing it; sections: {Section}s, what a reader wants first in front; measures:
      # {Measure}s; failed: whether a value was wrong or nothing could be measured; details: raw samples and settings as
      # plain data, in a shape of the command's own; answer: the {Answer} of a chapter that has one.
      Chapter = Part.with(key: nil, title: nil, lead: nil, facts: [], conclusions: [], warnings: [], sections: [],
                          measures: [], failed: false, details: {}, answer: nil) do
        # @return [Boolean]
        def failed? = failed == true
      end
    end
  end
end
