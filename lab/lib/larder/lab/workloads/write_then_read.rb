# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Two passes of one thread: writes to an empty store, then reads of what was written. A subclass has the constants
      # WRITE and READ, `write(store, keys)`, and `read(store, keys)`, which answers the first wrong value or nil.
      class WriteThenRead < Workload
        # @param key [String] of the pass
        # @param title [String]
        # @return [Pass] writes to a store that is emptied before each lap
        def self.write_pass(key, title)
          Pass.new(key: key, title: title, reading: false, clears: true).freeze
        end

        # @param key [String] of the pass
        # @param title [String]
        # @return [Pass] reads of what the block wrote beforehand
        def self.read_pass(key, title)
          Pass.new(key: key, title: title, reading: true, clears: false, fills: :block).freeze
        end

        # @return [Array<Pass>]
        def self.passes
          [self::WRITE, self::READ]
        end

        # What was written is read once more, outside the timing.
        # @return [Block]
        def run(pass, laps)
          super.tap { |block| block.wrong ||= wrong_after(pass) if keeps? }
        end

        private

        # The first wrong value, or nil.
        def wrong_after(pass)
          read(contender.store, reads) if pass.key == self.class::WRITE.key
        end

        def slices(count, _threads)
          [0...count]
        end

        # What {#read} is given: the keys that are written.
        def reads
          @slices.first
        end

        def fill
          write(contender.store, @slices.first)
        end

        def visit(store, keys, pass)
          return [0, read(store, reads)] if pass.key == self.class::READ.key

          write(store, keys)
          [0, nil]
        end
      end
    end
  end
end
