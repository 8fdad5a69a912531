# frozen_string_literal: true

require "json"
require_relative "../contenders"
require_relative "stats"

module Larder
  module Lab
    module Bench
      # A question, and the blocks of code whose times answer it. Suites are data; nothing here measures.
      class Suite
        # Parts of a {Block} that are code.
        PARTS = %i[load setup call paced teardown].freeze

        # Code that is timed. `key` and `title` name it, `short` heads a column, `about` describes it. `threads` call it
        # at once. `cold` is nil, or how many calls are made in a process that has made none before, on entries that
        # another process has stored by `setup`; `anywhere`: stores that other processes do not see take part as well.
        # `unit` names what a call is ("request"). `axes` is nil, or says where a block stands in a table of many, by
        # the names of axes ({"payload" => "books"}); `heading` is its column there. A block that is `given` works on
        # what the user gives, and is measured only then. One that is `slow` has one pass in a session, and none in a
        # quick run. One that is `paced` is called by all rows at once, or, if it is `alone`, one after the other. One
        # that is `fresh` has servers and processes that no block before it has used.
        Block = Struct.new(:key, :title, :short, :about, :threads, :cold, :unit, :axes, :heading, :given, :slow, :alone,
                           :fresh, :anywhere, :parts, :columns, :curves, :warnings, keyword_init: true) do
          def initialize(threads: 1, unit: "call", **fields)
            nothing = ->(_) {}
            parts = { load: nothing, setup: nothing, teardown: nothing, **fields.slice(*PARTS) }
            super(threads: threads, unit: unit, short: fields[:key].tr("_", " "), columns: [], curves: [], warnings: {},
                  parts: parts, **fields.except(*PARTS))
          end

          # Each takes its code, or answers it; the code gets a {Scene}. `setup` prepares the scene, without being
          # timed; before cold calls, `load` loads what they need besides the entries. `teardown` runs after the last
          # turn. `call` also gets the number of the call, counted from 0 in each thread, and that of the thread. It
          # must answer true; any other answer is a wrong value, and makes the row invalid. `paced` stands in for it
          # where calls come at times of their own, and measures itself. It answers a Hash: "calls", "seconds" of one
          # (nil: no time is known), and "figures", which the run records, and columns, curves and warnings show.
          PARTS.each do |part|
            define_method(part) { |&code| code ? parts[part] = code : parts[part] }
          end

          # Adds a {Column}. The block makes a cell of the figures of a process, with `all: true` of those of all.
          def column(title, format, **more, &value)
            columns << Column.new(title: title, format: format, value: value, **more)
          end

          # Adds a {Curve}, with x and y as {Document::Axis}. The block makes points of figures of a row's processes.
          def curve(title, **axes, &points) = curves << Curve.new(title: title, points: points, **axes)

          # Adds a warning that names rows: those for whose processes' figures the block answers true.
          def warning(text, &concerned) = warnings[text] = concerned
        end

        # A column of the table of a block. `format` is that of its cells. `value` is a proc, which gets the figures of
        # a process, or of `all` processes of a row, to merge them. A `sentence`, if any, is one of the chapter, before
        # the names and values of all rows. A column that is `better` "lower" or "higher" has a range of all processes,
        # and is a measure with this `unit` for `compare`.
        Column = Struct.new(:title, :format, :value, :all, :sentence, :better, :unit, keyword_init: true) do
          # A value of each process, by the figures of each.
          def values(processes) = processes.map { |process| value.call(all ? [process] : process) }

          # The median of numbers, or the first of other values; nil unless each process has one.
          def of(processes)
            return value.call(processes) if all

            found = values(processes)
            return if found.any?(&:nil?)

            found.all?(Numeric) ? Stats.median(found.map(&:to_f)) : found.first
          end
        end
        # A line for each row. `x` and `y` are its axes; `points` is a proc, as `value` of all processes.
        Curve = Struct.new(:title, :x, :y, :points, keyword_init: true)
        # A number that the user may set by an option. `usual` and `quick` are its values otherwise, `words` its help,
        # and `most` the greatest that it may be. One with a `file` is the path that is the only argument; `file` is a
        # proc that is called before anything is measured, and refuses a wrong one.
        Setting = Struct.new(:name, :usual, :quick, :words, :most, :file, keyword_init: true) do
          def option = "--#{name.to_s.tr("_", "-")}"
        end

        # Copies of each row: the second is its twin.
        COPIES = 2
        # The variable of the environment with the settings of suites.
        SETTINGS = "LARDER_LAB_SETTINGS"

        # Facts of a suite, with the values of one that does not say. `title "Stores"` declares one, `title` answers it;
        # one whose value is a list has all words: `answers "hit", "miss"`; and code is a block.
        {
          title: nil, # a heading
          question: nil, # what it answers
          command: [], # its name as a command; one line for `larder-lab --help`; the first lines of its own --help
          answers: [], # keys of blocks that it answers by, in sentences
          base: "larder", # the row that others are compared with, if it was measured
          registry: Contenders, # a CLI::Registry of ContenderDeclarations: where its rows are listed
          usual: nil, # code: rows that take part unless others are named; nil: those of the registry
          size: Contender::SIZE, # bytes of room that stores and servers get
          sized: false, # whether the user may choose the size
          takes: [], # an option for `given` blocks: flag, words of its help, and code that reads what was typed
          bundle: nil, # name of the Gemfile of all its processes; nil: each row has its own
          companion: nil, # name in Servers of the server that all rows use besides their own, one in a session
          sessions: nil, # of a run (a quick one has one) whose figures are counted; nil: times are compared
          copies: COPIES, # of each row, in a session; 1: it has no twin
          proofs: 200, # distinct values that each process proves to keep; in later sessions fewer
          chapter: nil, # code: class of its chapter, called where a report is made, as workers load none of it
          preload: -> {} # code: loads what blocks need, without a store, before processes are forked
        }.each do |name, default|
          define_method(name) do |*words, &code|
            @facts[name] = code || (default.is_a?(Array) ? words : words.first) if code || words.any?
            @facts.fetch(name, default)
          end
        end

        # A suite that declares itself in the block. Users type its key.
        def self.define(key, &declaration) = new(key).tap { |suite| suite.instance_eval(&declaration) }

        attr_reader :key
        # blocks: in the order of their turns; declared: each {Setting}.
        attr_reader :blocks, :declared

        def initialize(key)
          @key = key
          @facts = {}
          @blocks = []
          @declared = []
        end

        # Lets the user choose a value, see {Setting}.
        def setting(name, usual, words, quick: usual, **limits)
          declared << Setting.new(name: name, usual: usual, quick: quick, words: words, **limits)
        end

        # Sets what differs from the usual settings, for this process and those that it starts.
        def choose(given)
          ENV[SETTINGS] = JSON.generate(JSON.parse(ENV.fetch(SETTINGS, "{}")).merge(key => given))
          @settings = nil
        end

        # The chosen or usual values.
        def settings
          @settings ||= declared.to_h { |one| [one.name, one.usual] }
                                .merge(JSON.parse(ENV.fetch(SETTINGS, "{}")).fetch(key, {}).transform_keys(&:to_sym))
        end

        # Adds a {Block}, which declares its parts; code that several blocks share may be among the fields. Raises
        # ArgumentError if it has nothing to measure.
        def block(key, title, **fields, &declaration)
          blocks << Block.new(key: key.to_s, title: title, **fields)
          blocks.last.instance_eval(&declaration) if declaration
          raise ArgumentError, "the block #{key} has no call" unless blocks.last.call || blocks.last.paced
        end

        # The {Block} of that key. Raises KeyError without one.
        def fetch(key)
          blocks.find { |block| block.key == key } or raise KeyError, "the suite #{@key} has no block #{key}"
        end
      end

      # The store or codec that a block works with, and everything that its setup has kept.
      class Scene
        # contender: an opened {Contender}, or another row; settings: those of the suite; figures: what setup found out
        # besides times.
        attr_reader :contender, :settings, :figures

        def initialize(contender, settings: {})
          @contender = contender
          @settings = settings
          @figures = {}
          @kept = {}
        end

        def store = @contender.store

        # The value that the user gives to blocks that are `given`, as {Suite#takes} has read it, or nil.
        def given = settings[:given]

        # False if each read is a miss by design.
        def keeps? = contender.class.keeps_values?

        # For blocks that fill a store. Raises Unavailable if this one keeps nothing, or its server is the user's own.
        def must_be_filled
          raise Unavailable, "it keeps nothing" unless keeps?
          return unless contender.endpoint && !contender.endpoint["private"]

          raise Unavailable, "a server that is not the lab's own is not filled"
        end

        # A thing that setup has kept.
        def [](name) = @kept.fetch(name)

        def []=(name, value)
          @kept[name] = value
        end
      end
    end
  end
end
