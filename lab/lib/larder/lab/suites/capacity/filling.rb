# frozen_string_literal: true

# Fills one store with objects of one kind until it evicts, counts those that are really there, and measures what has
# grown.

require_relative "../../clock"
require_relative "../../footprint"
require_relative "objects"

module Larder
  module Lab
    module Suites
      module Capacity
        # Fills and counts.
        class Filling
          include Clock

          # Objects between two looks at whether the store evicts, at most; there are a hundred looks at least.
          STRIDE = 20_000
          LOOKS = 100
          # Early objects that are looked for each time, as many anywhere, and never the same: reading may rescue one.
          GLANCE = 5
          # Objects written beyond the beginning of eviction, as a share of those before.
          BEYOND = 0.1
          # Without eviction as many bytes are written, in sizes of the room.
          MOST = 1.5
          # A store without a limit is stopped at so many times the room; looks between two of its size.
          FULL = 3
          WEIGHING = 10
          # Seconds that eviction in the background has.
          SETTLING = 0.5
          # Objects written and read by one call.
          BATCH = 100
          # Objects that warm up code and connections, at most, and as a share of the room: the memory that they leave
          # behind is used again.
          WARMING = 200
          WARMTH = 0.01
          # Objects that are looked for at the end; of more, a random sample.
          CHECKED = 20_000
          SEED = 1
          private_constant :STRIDE, :LOOKS, :GLANCE, :BEYOND, :MOST, :FULL, :WEIGHING, :SETTLING, :BATCH, :WARMING,
                           :WARMTH, :CHECKED, :SEED

          # @param contender [Contender] open and empty
          # @param kind [String] see {Objects}
          def initialize(contender, kind)
            @contender = contender
            @store = contender.store
            @objects = Objects.new(kind, SEED)
            @random = Random.new(SEED)
            @refused = @count = @glanced = 0
          end

          # @return (see Bench::Suite::BlockBuilder#paced)
          # @raise [Invalid] at a wrong value
          def found
            warm_up
            own, *servers = @contender.directories
            @before = footprint(*servers) # the store's own files count in full: some take all their room at once
            @directories = [own, *servers]
            seconds = fill
            sleep SETTLING
            { "calls" => @count, "seconds" => seconds / @count,
              "figures" => { **growth.to_h.slice(:disk, :tmpfs, :server, :own), **counted } }
          end

          private

          def warm_up
            numbers = (0...(@contender.size * WARMTH / @objects.bytes).ceil.clamp(1, WARMING)).to_a
            write_batch(numbers)
            raise Invalid, "written values cannot be read" unless there(numbers) == numbers.size

            numbers.each { |number| @store.delete(Objects.key(number)) }
          end

          # @return [Float] seconds of writing
          def fill
            most = (@contender.size * MOST / @objects.bytes).ceil
            stride = (most / LOOKS).clamp(1, STRIDE)
            seconds = 0.0
            while @count < most
              seconds += write([stride, most - @count].min)
              most = @count if (@count / stride % WEIGHING).zero? && full?
              next if @evicting_at || !evicting?

              @evicting_at = @count
              most = [most, (@count * (1 + BEYOND)).ceil].min
            end
            seconds
          end

          def write(count)
            started = now
            (@count...(@count + count)).each_slice(BATCH) { |numbers| write_batch(numbers) }
            @count += count
            now - started
          end

          # One by one where the store cannot take many at once: Litecache cannot when it is full.
          def write_batch(numbers)
            @store.write_multi(numbers.to_h { |number| [Objects.key(number), @objects[number]] }, compress: false)
          rescue StandardError
            numbers.each do |number|
              @refused += 1 unless @store.write(Objects.key(number), @objects[number], compress: false)
            end
          end

          def full?
            taken = growth
            [taken.disk + taken.tmpfs, taken.server, taken.own].max >= @contender.size * FULL
          end

          def evicting?
            early = Array.new(GLANCE) { |number| @glanced + number }
            @glanced += GLANCE
            [*early, *Array.new(GLANCE) { @random.rand(@count) }].any? do |number|
              number < @count && @store.read(Objects.key(number)).nil?
            end
          end

          # Reads from the last to the first, so that reading rescues none before it is counted.
          def counted
            numbers = (0...@count).to_a.reverse
            numbers = numbers.sample(CHECKED, random: @random).sort.reverse if @count > CHECKED
            found = numbers.each_slice(BATCH).map { |some| there(some) }
            { held: (found.sum.fdiv(numbers.size) * @count).round, newest: found.first > BATCH / 2, written: @count,
              refused: @refused, evicting_at: @evicting_at, payload: @objects.bytes, size: @contender.size }
          end

          def there(numbers)
            found = @store.read_multi(*numbers.map { |number| Objects.key(number) })
            numbers.count do |number|
              value = found[Objects.key(number)]
              raise Invalid, "a wrong value for #{Objects.key(number)}" unless value.nil? || value == @objects[number]

              value
            end
          end

          def growth
            footprint(*@directories) - @before
          end

          def footprint(*directories)
            Footprint.take(pid: @contender.endpoint && @contender.endpoint["pid"], dirs: directories)
          end
        end
      end
    end
  end
end
