# frozen_string_literal: true

# The base of workloads: their passes, and the timing of one block. One subclass for each shape of work, in
# workloads/. The loops below are the measured code: what is added to them is added to every figure.

require_relative "clock"

module Larder
  module Lab
    # A shape of work, made of passes that are measured one after the other. Instances live in worker processes.
    class Workload
      include Clock

      # The value of the published script.
      VALUE = "Hello World!"

      # How many turns the store and the floor take in a block at most. A turn is longer than the time between two
      # collections of garbage, so each pays for its own.
      TURNS = 2

      # Calls by which the loop's own time is measured.
      OWN_CALLS = 5_000
      GC_FIGURES = %i[total_allocated_objects count time].freeze

      # One measured step. `reading` is true where every call ought to be a hit; `clears` where the store is emptied
      # (outside the timing) before each lap; `fills` where {#fill} is called (outside the timing, after emptying), by
      # :block or by :lap.
      Pass = Struct.new(:key, :title, :reading, :clears, :fills, keyword_init: true)

      # What a block measured: seconds inside the laps, calls made, times the block of `fetch` ran, seconds spent before
      # laps in emptying and filling the store, and before the block in filling it and warming up, laps, and the first
      # wrong value: nil, or [number of its key, value], with what it should have been where that is not VALUE; objects
      # allocated, collections of garbage and seconds in them; seconds of each call that are the loop's own; seconds
      # that as many calls cost with any store, or nil.
      Block = Struct.new(:seconds, :calls, :block_runs, :clearing, :setup, :laps, :wrong, :allocated, :collections,
                         :collecting, :own, :floor, keyword_init: true)

      MISS = Pass.new(key: "miss", title: "pass 1: miss, block, write", reading: false, clears: true).freeze
      HIT = Pass.new(key: "hit", title: "pass 2: hit", reading: true, clears: false).freeze

      class << self
        # @return [String] what users type
        attr_reader :key
        # @return [String] a heading
        attr_reader :title
        # @return [String] one sentence that says what is done and how to take it
        attr_reader :about

        # @return [Array<Pass>] in the order in which they run
        def passes
          [MISS, HIT]
        end

        # @return [Boolean] whether `--published` runs it
        def published?
          @published == true
        end

        # @return [Boolean] whether it runs only where it is asked for by name
        def on_request?
          @on_request == true
        end

        # @return [Boolean] whether it says what its calls cost with any store, see {Contenders::Floor}
        def floor?
          private_method_defined?(:floor)
        end

        # @return [Boolean] whether a call is a whole request, of which a store has a share
        def requests?
          false
        end

        # @param threads [Integer] how many a workload of several has
        # @return [String] the title with their number
        def heading(threads)
          title.sub(/\AThreads/, threads == 1 ? "1 thread" : "#{threads} threads")
        end

        private

        def named(key, title, about)
          @key = key
          @title = title
          @about = about
          Workloads.register(key, self)
        end

        def only_on_request
          @on_request = true
        end

        def as_published
          @published = true
        end
      end

      # @param contender [Contender] opened
      # @param count [Integer] calls per lap
      # @param threads [Integer] threads of the workloads that have several
      def initialize(contender, count:, threads:)
        @contender = contender
        @slices = slices(count, threads)
      end

      # Runs one block: as many laps as calibration asked for, after a garbage collection. Where the workload knows its
      # floor, store and floor take turns, in the same process: so both have the same heap, and the same neighbours on
      # the machine.
      # @param pass [Pass]
      # @param laps [Integer]
      # @return [Block]
      def run(pass, laps)
        block = Block.new(seconds: 0.0, calls: 0, block_runs: 0, clearing: 0.0, setup: 0.0, laps: laps,
                          allocated: 0, collections: 0, collecting: 0.0, own: own_seconds(pass))
        untimed(block, :setup) { fill if pass.fills == :block }
        untimed(block, :setup) { warm_up(pass, warm_laps(laps), block.dup) }
        turns(laps).each do |some|
          GC.start
          some.times { turn(pass, block) }
          beside(pass, some, block) if self.class.floor?
        end
        block
      end

      private

      attr_reader :contender

      # The keys of each thread, one enumerable of Integers per thread.
      def slices(_count, _threads)
        raise NotImplementedError, "#{self.class} does not say which keys its threads use"
      end

      # Puts what a pass reads or deletes into the store.
      def fill
        raise NotImplementedError, "#{self.class} does not say what it fills a store with"
      end

      # How many laps do not count. What is measured beside a floor finds the process as an application's is: code and
      # pages of files were used before, and the heap has grown to what a turn needs, else its page faults would count
      # as the store's, whose turn is first. A block of one lap is long enough without.
      def warm_laps(laps)
        self.class.floor? && laps > 1 ? turns(laps).first : 0
      end

      # As a turn, so that garbage is collected as often.
      def warm_up(pass, laps, block)
        GC.start
        laps.times { turn(pass, block) }
        beside(pass, laps, block) if self.class.floor?
      end

      # @return [Array<Integer>] laps of each turn
      def turns(laps)
        return [laps] unless self.class.floor?

        count = [laps, TURNS].min
        Array.new(count) { |i| (laps * (i + 1) / count) - (laps * i / count) }
      end

      def turn(pass, block)
        untimed(block, :clearing) { contender.clear } if pass.clears
        untimed(block, :clearing) { fill } if pass.fills == :lap
        lap(pass, block)
      end

      # What as many laps cost with any store.
      def beside(pass, laps, block)
        GC.start
        start = now
        laps.times { floor(@slices.first, pass) }
        block.floor = block.floor.to_f + now - start
      end

      # Does the store answer what was written?
      def keeps?
        contender.class.keeps_values?
      end

      # Runs one slice; answers [times the block ran, the first wrong value or nil].
      def visit(store, keys, _pass)
        runs = 0
        wrong = nil
        keys.each do |i|
          value = store.fetch(["key", i], expires_in: 5.minutes) do
            runs += 1
            VALUE
          end
          wrong ||= [i, value] unless value == VALUE
        end
        [runs, wrong]
      end

      # Seconds of each call that are the lab's: counting up, and looking whether the value is right. The key, the block
      # and `5.minutes` belong to the call, as an application writes it. nil where a call is for many keys.
      def own_seconds(pass)
        Array.new(3) do
          start = now
          visit_nothing(pass)
          now - start
        end.min / OWN_CALLS
      end

      # The loop of {#visit} without its calls.
      def visit_nothing(_pass)
        value = VALUE.dup
        wrong = nil
        OWN_CALLS.times { |i| wrong ||= [i, value] unless value == VALUE }
      end

      def lap(pass, block)
        store = contender.store
        seconds, outcomes = counting_garbage(block) { @slices.one? ? alone(store, pass) : together(store, pass) }
        block.seconds += seconds
        block.calls += @slices.sum(&:size)
        block.block_runs += outcomes.sum(&:first)
        block.wrong ||= outcomes.filter_map(&:last).first
      end

      def counting_garbage(block)
        before = GC_FIGURES.map { |figure| GC.stat(figure) }
        answer = yield
        allocated, collections, milliseconds = GC_FIGURES.zip(before).map { |figure, was| GC.stat(figure) - was }
        block.allocated += allocated
        block.collections += collections
        block.collecting += milliseconds / 1000.0
        answer
      end

      def alone(store, pass)
        start = now
        outcome = visit(store, @slices.first, pass)
        [now - start, [outcome]]
      end

      # All threads exist before the clock starts; it stops when the last one has finished.
      def together(store, pass)
        ready = Thread::Queue.new
        go = Thread::Queue.new
        threads = @slices.map do |keys|
          Thread.new do
            ready << true
            go.pop
            visit(store, keys, pass)
          end
        end
        threads.size.times { ready.pop }
        start = now
        go.close
        outcomes = threads.map(&:value)
        [now - start, outcomes]
      end

      def untimed(block, figure)
        start = now
        yield
        block[figure] += now - start
      end
    end
  end
end
