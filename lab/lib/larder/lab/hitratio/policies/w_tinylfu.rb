# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # W-TinyLFU as published (Einziger, Friedman, Manes, "TinyLFU: a highly efficient cache admission policy",
        # 2017): an object that leaves an LRU window of 1 % must have been requested more often than those that it would
        # evict from a segmented LRU, by an ageing sketch of frequencies.
        class WTinyLfu < Policy
          Policies.register("wtinylfu", self)

          WINDOW = 0.01
          PROTECTED = 0.8
          # Odd multipliers, one for each row of the sketch; its counters end at MOST, and are halved when SAMPLE times
          # as many requests were counted as the cache has objects.
          FACTORS = [0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93].freeze
          MOST = 15
          SAMPLE = 10

          # See {Policy#request}
          def request(object, size, following)
            count(object)
            super
          end

          private

          def prepare
            @window, @probation, @protected = Array.new(3) { Chain.new(@objects) }
            @window_capacity = (@capacity * WINDOW).to_i
            @main_capacity = @capacity - @window_capacity
            @protected_capacity = (@main_capacity * PROTECTED).to_i
            held = [@capacity * @objects / [@trace.footprint, 1].max, 16].max # objects, about
            bits = [Math.log2(held).ceil, 4].max
            @shift = 64 - bits
            @rows = FACTORS.map { Array.new(1 << bits, 0) }
            @sample = SAMPLE * held
            @added = 0
          end

          def hit?(object)
            if @window.include?(object)
              @window.renew(object)
            elsif @protected.include?(object)
              @protected.renew(object)
            elsif @probation.include?(object)
              @protected.push(object, @probation.delete(object))
              @protected.pass(@probation) while @protected.bytes > @protected_capacity
            else
              return false
            end
            true
          end

          # An object of the window's own size or more still passes through it: then the window is that one object.
          def store(object, size)
            return if size > @main_capacity

            @window.push(object, size)
            while @window.bytes > @window_capacity && @window.count.positive?
              candidate = @window.oldest
              admit(candidate, @window.delete(candidate))
            end
          end

          def admit(candidate, size)
            frequency = frequency(candidate)
            while @probation.bytes + @protected.bytes + size > @main_capacity
              queue = @probation.count.zero? ? @protected : @probation
              return if frequency <= frequency(queue.oldest)

              queue.delete(queue.oldest)
            end
            @probation.push(candidate, size)
          end

          def count(object)
            @rows.each_with_index do |row, number|
              at = cell(object, number)
              row[at] += 1 if row[at] < MOST
            end
            @added += 1
            return if @added < @sample

            @rows.each { |row| row.map! { |count| count >> 1 } }
            @added /= 2
          end

          def frequency(object) = @rows.each_with_index.map { |row, number| row[cell(object, number)] }.min

          def cell(object, number) = (((object + 1) * FACTORS[number]) & 0xffffffffffffffff) >> @shift
        end
      end
    end
  end
end
