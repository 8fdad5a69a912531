# frozen_string_literal: true

# The process that fills one store with objects of one kind until it evicts, counts those that are really there, and
# measures what they take. Started by {Fill}; never loaded by the command itself.

require_relative "../answers"
require_relative "../clock"
require_relative "../features/opening"
require_relative "../footprint"
require_relative "../job"
require_relative "objects"

module Larder
  module Lab
    module Capacity
      # Fills and counts.
      class Worker
        include Answers
        include Clock

        # Objects between two looks at whether the store evicts, at most; there are a hundred looks at least.
        STRIDE = 20_000
        LOOKS = 100
        # Early objects that are looked for each time, never the same, for reading may rescue one; and as many anywhere.
        GLANCE = 5
        # What is written beyond the beginning of eviction, as a share of what was written before.
        BEYOND = 0.1
        # Of a store without a limit, looks between two of its size.
        WEIGHING = 10
        # Seconds that eviction in the background has.
        SETTLING = 0.5
        # Objects written and read by one call.
        BATCH = 100
        # A store without a limit is stopped at so many times the room of the others.
        FULL = 3
        # Objects that warm up code and connections.
        WARMING = 200

        # @return [void]
        def self.main
          new(*Job.take).run
        end

        # @return [void]
        def run
          answering do
            enter
            fill
            sleep SETTLING
            growth = footprint(*@directories, @job["server_dir"]) - @before
            { **result, growth: growth.to_h }
          end
        end

        private

        attr_reader :store

        def enter
          @objects = Objects.new(@job["kind"], @job["seed"])
          contender = Features::Opening.open(@job)
          @store = contender.store
          @directories = Features::Opening.directories(contender, @job)
          @random = Random.new(@job["seed"])
          @refused = 0
          warm_up
          # Files of the store's own count in full: some take all their room before the first object.
          @before = footprint(@job["server_dir"])
        end

        def warm_up
          write_batch((0...WARMING).to_a)
          raise Invalid, "what is written cannot be read" unless there((0...WARMING).to_a) == WARMING

          WARMING.times { |i| store.delete(Objects.key(i)) }
        end

        # Until it evicts and a tenth more, or half as much again as there is room for is written.
        def fill
          @count = 0
          @glanced = 0
          most = (@job["size"] * 1.5 / @objects.bytes).ceil
          stride = (most / LOOKS).clamp(1, STRIDE)
          until @count >= most
            write([stride, most - @count].min)
            next unless @end.nil? && (@reason = reason)

            @end = @count
            most = @reason == "full" ? @count : [most, (@count * (1 + BEYOND)).ceil].min
          end
        end

        def write(count)
          (@count...(@count + count)).each_slice(BATCH) { |numbers| write_batch(numbers) }
          @count += count
          emit("progress", written: @count)
        end

        # One by one where the store cannot take many at once: Litecache cannot when it is full.
        def write_batch(numbers)
          store.write_multi(numbers.to_h { |number| [Objects.key(number), @objects[number]] }, compress: false)
        rescue StandardError
          numbers.each do |number|
            @refused += 1 unless store.write(Objects.key(number), @objects[number], compress: false)
          end
        end

        def reason
          return "evicting" if evicting?

          @looks = @looks.to_i + 1
          "full" if (@looks % WEIGHING).zero? && taken >= @job["size"] * FULL
        end

        def evicting?
          early = Array.new(GLANCE) { |i| @glanced + i }
          @glanced += GLANCE
          anywhere = Array.new(GLANCE) { @random.rand(@count) }
          [*early, *anywhere].any? { |number| number < @count && store.read(Objects.key(number)).nil? }
        end

        # Of a store without a limit of its own.
        def taken
          growth = footprint(*@directories, @job["server_dir"]) - @before
          [growth.disk + growth.tmpfs, growth.server, growth.own].max
        end

        # All of them, from the last to the first; of very many, a sample.
        def result
          numbers = (0...@count).to_a.reverse
          numbers = numbers.sample(@job["check"], random: @random).sort.reverse if sampled?
          found = numbers.each_slice(BATCH).sum { |some| there(some) }
          { written: @count, evicting_at: (@end if @reason == "evicting"), stopped: @reason, refused: @refused,
            looked_for: numbers.size, found: found, held: (found.fdiv(numbers.size) * @count).round,
            payload: @objects.bytes }
        end

        def sampled?
          @count > @job["check"]
        end

        def there(numbers)
          found = store.read_multi(*numbers.map { |number| Objects.key(number) })
          numbers.count { |number| right?(number, found[Objects.key(number)]) }
        end

        def right?(number, value)
          return false if value.nil?
          return true if value == @objects[number]

          raise Invalid, "a wrong value for #{Objects.key(number)}"
        end

        def footprint(*dirs)
          Footprint.take(pid: @job.dig("endpoint", "pid"), dirs: dirs.compact)
        end
      end
    end
  end
end

Larder::Lab::Capacity::Worker.main if $PROGRAM_NAME == __FILE__
