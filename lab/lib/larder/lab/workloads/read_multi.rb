# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Many keys a call: Rails.cache.write_multi and read_multi. The keys of a call are made beforehand, so what is
      # measured is the store.
      class ReadMulti < Workload
        # Keys of one call.
        KEYS = 100

        WRITE = Pass.new(key: "write_multi", title: "write_multi of #{KEYS}", reading: false, clears: true).freeze
        READ = Pass.new(key: "read_multi", title: "read_multi of #{KEYS}", reading: true, clears: false,
                        fills: :block).freeze

        named "read-multi", "#{KEYS} keys a call, one thread", "write_multi of new keys, read_multi of those."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          [WRITE, READ]
        end

        # @return [Block]
        def run(pass, laps)
          super.tap { |block| block.wrong ||= read(contender.store, @slices.first) if keeps? && pass.key == WRITE.key }
        end

        private

        # The values to write, a Hash for each call.
        def slices(count, _threads)
          [(0...count).each_slice(KEYS).map { |numbers| numbers.to_h { |i| [["key", i], VALUE] } }]
        end

        def fill
          write(contender.store, @slices.first)
        end

        def visit(store, batches, pass)
          return [0, read(store, names)] if pass.key == READ.key

          write(store, batches)
          [0, nil]
        end

        def write(store, batches)
          batches.each { |batch| store.write_multi(batch, expires_in: 5.minutes) }
        end

        def names
          @names ||= @slices.first.map(&:keys)
        end

        def read(store, batches)
          wrong = nil
          batches.each do |batch|
            found = store.read_multi(*(batch.is_a?(Hash) ? batch.keys : batch))
            next if found.values.count(VALUE) == (keeps? ? batch.size : 0)

            wrong ||= lost(batch, found)
          end
          wrong
        end

        # The first key of a batch whose value is not right.
        def lost(batch, found)
          key = (batch.is_a?(Hash) ? batch.keys : batch).find { |name| found[name] != VALUE }
          key ? [key.last, found[key]] : [batch.first.last, found.size, 0]
        end
      end
    end
  end
end
