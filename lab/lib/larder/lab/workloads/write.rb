# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Writing alone, which no pass of the published script measures: a miss also pays for the read before it.
      class Write < Workload
        WRITE = Pass.new(key: "write", title: "write of a new key", reading: false, clears: true).freeze
        OVERWRITE = Pass.new(key: "overwrite", title: "write of an old key", reading: false, clears: false).freeze

        # Keys that are read back, outside the timing, after a block.
        SAMPLED = 200

        named "write", "Write alone, one thread", "Corrected: Rails.cache.write without the read before it."

        # @return [Array<Pass>]
        def self.passes
          [WRITE, OVERWRITE]
        end

        # @return [Block]
        def run(pass, laps)
          super.tap { |block| block.wrong ||= first_lost if keeps? }
        end

        private

        def slices(count, _threads)
          [0...count]
        end

        # A store answers true, or what its server said.
        def visit(store, keys, _pass)
          keys.each { |i| store.write(["key", i], VALUE, expires_in: 5.minutes) }
          [0, nil]
        end

        # [key, value] of the first sampled key that does not read back, or nil.
        def first_lost
          keys = @slices.first
          keys.step([keys.size / SAMPLED, 1].max) do |i|
            value = contender.store.read(["key", i])
            return [i, value] unless value == VALUE
          end
          nil
        end
      end
    end
  end
end
