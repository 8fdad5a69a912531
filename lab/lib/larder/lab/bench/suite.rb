# frozen_string_literal: true

# Declares suites: which blocks of code are measured, and along which axes. Suites are data; nothing here measures.

require_relative "../contenders"

module Larder
  module Lab
    module Bench
      # A question, and the blocks of code whose times answer it.
      #
      # @example
      #   Suite.define("reads") do
      #     question "How long does a read take?"
      #     block(:hit, "read of a stored value") do
      #       setup { |scene| 100.times { |i| scene.store.write(["key", i], "value") } }
      #       call { |scene, i| scene.store.read(["key", i % 100]) == "value" }
      #     end
      #   end
      class Suite
        # Code that is timed. `key` and `title` name it, `short` heads a column, `about` describes it. `setup` gets a
        # {Scene} and prepares it, without being timed; `teardown` runs after the last turn. `call` gets the scene, the
        # number of the call and of the thread, and must answer true; any other answer is a wrong value, and makes the
        # row invalid. `threads` call it at once. `cold` is nil, or how many calls are made in a process that has made
        # none before, on entries that another process has stored by `setup`; `load` runs before, and loads what the
        # calls need besides the entries. `unit` names what a call is ("request"). `axes` is nil, or says where a block
        # stands in a table of many, by the names of axes ({"payload" => "books"}); `heading` is its column there. A
        # block that is `given` works on what the user gives, and is measured only then. One that is `slow` has one pass
        # in a session, and none in a quick run. `paced` stands in for `call` where calls come at times of their own:
        # all rows make theirs at once, and each measures itself; of a block that is `alone`, one after the other.
        Block = Struct.new(:key, :title, :short, :about, :load, :setup, :call, :teardown, :threads, :cold, :unit,
                           :axes, :heading, :given, :slow, :paced, :alone, keyword_init: true)

        # Collects the parts of a block.
        class BlockBuilder
          # @param fields [Hash] of {Block}
          def initialize(**fields)
            @block = Block.new(threads: 1, unit: "call", load: ->(_) {}, setup: ->(_) {}, teardown: ->(_) {}, **fields)
          end

          # @yieldparam scene [Scene] whose entries stay untouched
          def load(&code)
            @block.load = code
          end

          # @yieldparam scene [Scene]
          def setup(&code)
            @block.setup = code
          end

          # @yieldparam scene [Scene]
          # @yieldparam number [Integer] of the call, counted from 0 in each thread
          # @yieldparam thread [Integer] number of the thread
          # @yieldreturn [Boolean] whether the answer of the store was right
          def call(&code)
            @block.call = code
          end

          # @yieldparam scene [Scene]
          # @yieldreturn [Hash{String=>Object}] "calls", "seconds" of one, and "figures", which the run records
          def paced(&code)
            @block.paced = code
          end

          # @yieldparam scene [Scene]
          def teardown(&code)
            @block.teardown = code
          end

          # @return [Block]
          # @raise [ArgumentError] without `call`
          def build
            raise ArgumentError, "the block #{@block.key} has no call" unless @block.call || @block.paced

            @block.short ||= @block.key.tr("_", " ")
            @block.freeze
          end
        end

        class << self
          # @param key [String] what users type
          # @yield in the suite, which declares itself
          # @return [Suite]
          def define(key, &declaration)
            new(key).tap { |suite| suite.instance_eval(&declaration) }
          end
        end

        # @return [String]
        attr_reader :key
        # @return [Array<Block>] in the order in which they are measured
        attr_reader :blocks

        # @param key [String]
        def initialize(key)
          @key = key
          @blocks = []
        end

        # @param text [String, nil] a heading; nil: no change
        # @return [String]
        def title(text = nil)
          @title = text || @title
        end

        # Makes the suite a command of `larder-lab`.
        # @param name [String, nil] what users type; nil: no change
        # @param summary [String] one line for `larder-lab --help`
        # @param about [String] the first lines of its own --help
        # @return [Array<String>, nil] these three
        def command(name = nil, summary = nil, about = nil)
          @command = [name, summary, about].freeze if name
          @command
        end

        # @param keys [Array<Symbol>] blocks that the suite answers by, in sentences; none: no change
        # @return [Array<String>]
        def answers(*keys)
          @answers = keys.map(&:to_s) if keys.any?
          @answers || []
        end

        # @param rows [Array<String>] contenders that take part although they do so only on request elsewhere; none: no
        #   change
        # @return [Array<String>]
        def also(*rows)
          @also = rows if rows.any?
          @also || []
        end

        # @param list [Module, nil] where its rows are listed; nil: no change
        # @return [Module] a {CLI::Registry} of {ContenderDeclaration}s
        def registry(list = nil)
          @registry = list || @registry || Contenders
        end

        # Lets the user give something to blocks that are `given`.
        # @param flag [String, nil] the option and its argument; nil: no change
        # @param words [Array<String>] of the help
        # @yieldparam text [String] as typed
        # @yieldreturn [String] as blocks get it
        # @return [Array, nil] flag, words, and what was given as a block
        def takes(flag = nil, *words, &check)
          @takes = [flag, words, check] if flag
          @takes
        end

        # @param name [String, nil] of the Gemfile of all its processes; nil: no change
        # @return [String, nil] nil: each row has its own
        def bundle(name = nil)
          @bundle = name || @bundle
        end

        # @param name [String, nil] in {Servers}; nil: no change
        # @return [String, nil] the server that all rows use besides their own, one in a session
        def companion(name = nil)
          @companion = name || @companion
        end

        # @param bytes [Integer, nil] of room that stores and servers get; nil: no change
        # @return [Integer]
        def size(bytes = nil)
          @size = bytes || @size || Contender::SIZE
        end

        # @param row [String, nil] the row that others are compared with, if it was measured; nil: no change
        # @return [String]
        def base(row = nil)
          @base = row || @base || "larder"
        end

        # @param names [Array<String>] rows that take part unless others are named; none: no change
        # @return [Array<String>]
        def usual(*names)
          @usual = names if names.any?
          @usual || registry.usual
        end

        # Leaves out stores whose server takes seconds to start, unless they are named.
        # @return [void]
        def only_quick_to_start
          @quick_to_start = true
        end

        # @yield loads code and data that blocks need, without a store, before processes are forked; without a block: no
        #   change
        # @return [Proc]
        def preload(&code)
          @preload = code || @preload || -> {}
        end

        # @return [Boolean] see {#only_quick_to_start}
        def quick_to_start?
          @quick_to_start == true
        end

        # @param text [String, nil] what the suite answers; nil: no change
        # @return [String]
        def question(text = nil)
          @question = text || @question
        end

        # @param key [Symbol, String]
        # @param title [String]
        # @param fields [Hash] more of {Block}
        # @yield in a {BlockBuilder}
        # @return [void]
        def block(key, title, **fields, &declaration)
          builder = BlockBuilder.new(key: key.to_s, title: title, **fields)
          builder.instance_eval(&declaration)
          blocks << builder.build
        end

        # @param key [String]
        # @return [Block]
        # @raise [KeyError] without such a block
        def fetch(key)
          blocks.find { |block| block.key == key } or raise KeyError, "the suite #{@key} has no block #{key}"
        end
      end

      # The store or codec that a block works with, and everything that its setup has kept.
      class Scene
        # @return [Contender, Codecs::Row]
        attr_reader :contender
        # @return [String, nil] what the user gives to blocks that are `given`
        attr_reader :given
        # @return [Hash{String=>Numeric}] what setup found out besides times
        attr_reader :figures

        # @param contender [Contender, Codecs::Row] opened
        # @param given [String, nil]
        def initialize(contender, given: nil)
          @contender = contender
          @given = given
          @figures = {}
          @kept = {}
        end

        # @return [ActiveSupport::Cache::Store]
        def store
          @contender.store
        end

        # @return [Boolean] false if each read is a miss by design
        def keeps?
          contender.class.keeps_values?
        end

        # @param name [Symbol]
        # @return [Object] what setup has kept
        def [](name)
          @kept.fetch(name)
        end

        # @param name [Symbol]
        # @param value [Object]
        def []=(name, value)
          @kept[name] = value
        end
      end
    end
  end
end
