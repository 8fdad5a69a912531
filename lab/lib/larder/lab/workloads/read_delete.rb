# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Rails.cache.read and Rails.cache.delete, of keys that are there.
      class ReadDelete < Workload
        READ = Pass.new(key: "read", title: "read, a hit", reading: true, clears: false, fills: :block).freeze
        DELETE = Pass.new(key: "delete", title: "delete", reading: false, clears: false, fills: :lap).freeze

        named "read-delete", "Reads and deletes, one thread", "Rails.cache.read and .delete of keys that are there."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          [READ, DELETE]
        end

        # @return [Block]
        def run(pass, laps)
          super.tap { |block| block.wrong ||= left if keeps? && pass.key == DELETE.key }
        end

        private

        def slices(count, _threads)
          [0...count]
        end

        def fill
          @slices.first.each { |i| contender.store.write(["key", i], VALUE, expires_in: 5.minutes) }
        end

        def visit(store, keys, pass)
          [0, pass.key == READ.key ? read(store, keys) : delete(store, keys)]
        end

        def read(store, keys)
          expected = keeps? ? VALUE : nil
          wrong = nil
          keys.each do |i|
            value = store.read(["key", i])
            wrong ||= [i, value] unless value == expected
          end
          wrong
        end

        # Stores answer true, or the number of keys that went.
        def delete(store, keys)
          wrong = nil
          keys.each do |i|
            gone = store.delete(["key", i])
            wrong ||= [i, gone, true] if !gone || gone == 0
          end
          keeps? ? wrong : nil
        end

        # The first key that reads as if it had not been deleted.
        def left
          @slices.first.each do |i|
            value = contender.store.read(["key", i])
            return [i, value, "nothing, after a delete"] unless value.nil?
          end
          nil
        end
      end
    end
  end
end
