# frozen_string_literal: true

require_relative "../clock"
require_relative "../footprint"

module Larder
  module Lab
    module Suites
      # Fills a store with more objects of one size than it has room for, counts those that are really there, and
      # measures what has grown. Objects cannot be compressed, and each is made from its number alone, so it can be
      # verified when it is read back and need not be kept.
      class Capacity
        include Clock

        # Places where objects can be, and their names.
        PLACES = { disk: "disk", tmpfs: "memory (tmpfs)", server: "memory (server)", own: "memory (own)" }.freeze
        # Bytes that are written, in sizes of the room.
        MOST = 1.5
        # A store without a limit is stopped when it has FULL times its room; its size is looked at LOOKS times.
        FULL = 3
        LOOKS = 10
        # Objects written and read by one call.
        BATCH = 100
        # Objects that warm up code and connections, at most, and as a share of the room: the memory that they leave
        # behind is used again.
        WARMING = 200
        WARMTH = 0.01
        # Objects that are looked for at the end; of more, a random sample.
        CHECKED = 20_000
        # Where in the noise objects begin.
        STARTS = 8192
        SEED = 1

        # The contender is open and empty; each object has `bytes` bytes.
        def initialize(contender, bytes)
          @contender = contender
          @store = contender.store
          @bytes = bytes
          @noise = Random.new(SEED).bytes(bytes + STARTS)
          @refused = @count = 0
        end

        # As a paced block has it. Raises Invalid at a wrong value.
        def found
          warm_up
          own, *servers = @contender.directories
          @before = footprint(*servers) # the store's own files count in full: some take all their room at once
          @directories = [own, *servers]
          seconds = fill
          sleep 0.5 # eviction in the background comes to its end
          grown = growth.to_h.slice(*PLACES.keys)
          { "calls" => @count, "seconds" => seconds / @count, "figures" => { **grown, **weighed(counted, grown) } }
        end

        private

        def warm_up
          numbers = (0...(@contender.size * WARMTH / @bytes).ceil.clamp(1, WARMING)).to_a
          write(numbers)
          raise Invalid, "written values cannot be read" unless there(numbers) == numbers.size

          numbers.each { |number| @store.delete(key(number)) }
        end

        # @return [Float] seconds of writing
        def fill
          most = (@contender.size * MOST / @bytes).ceil
          seconds = 0.0
          (0...most).each_slice(most / LOOKS) do |numbers|
            started = now
            numbers.each_slice(BATCH) { |some| write(some) }
            seconds += now - started
            @count += numbers.size
            break if full?
          end
          seconds
        end

        # One by one where the store cannot take many at once: Litecache cannot when it is full.
        def write(numbers)
          @store.write_multi(numbers.to_h { |number| [key(number), object(number)] }, compress: false)
        rescue StandardError
          numbers.each { |number| @refused += 1 unless @store.write(key(number), object(number), compress: false) }
        end

        def full?
          taken = growth
          [taken.disk + taken.tmpfs, taken.server, taken.own].max >= @contender.size * FULL
        end

        # Reads from the last to the first, so that reading rescues none before it is counted.
        def counted
          numbers = (0...@count).to_a.reverse
          numbers = numbers.sample(CHECKED, random: Random.new(SEED)).sort.reverse if @count > CHECKED
          found = numbers.each_slice(BATCH).map { |some| there(some) }
          (found.sum.fdiv(numbers.size) * @count).round
        end

        # With the first place that has grown by half of the objects that are held, or by more, as theirs.
        def weighed(held, grown)
          where, taken = grown.find { |_, bytes| bytes > held * @bytes / 2 } if held.positive?
          { held: held, written: @count, refused: @refused, evicts: held < @count - @refused,
            where: PLACES[where], taken: taken, each: taken&.fdiv(held), room: taken&.fdiv(@contender.size) }
        end

        def there(numbers)
          found = @store.read_multi(*numbers.map { |number| key(number) })
          numbers.count do |number|
            value = found[key(number)]
            raise Invalid, "a wrong value for #{key(number)}" unless value.nil? || value == object(number)

            value
          end
        end

        def key(number) = "object/#{number}"

        # The number makes it the only one.
        def object(number)
          head = "#{number}:"
          head + @noise.byteslice((number * 7919) % STARTS, @bytes - head.bytesize)
        end

        def growth = footprint(*@directories) - @before

        def footprint(*directories)
          Footprint.take(pid: @contender.endpoint && @contender.endpoint["pid"], dirs: directories)
        end
      end

      register("capacity", Bench::Suite.define("capacity") do
        title "How many objects a store holds"
        command "capacity", "number of objects that fit a given size, and memory or disk per object", <<~TEXT
          Measures how many objects a store holds in a given amount of memory or disk, and
          the bytes of each object. Objects with different keys are written, 1.5 times the
          given size. Then they are read from the last to the first, compared and counted.

          The size of an object is measured by growth: of the blocks of files, of the
          memory of the server, or of the memory of the process. A store that accepts no
          limit is stopped at three times the size that the others may use.
        TEXT
        question "How many objects does a store hold in the room that it gets, and how many bytes does each take?"
        sessions 1
        proofs 0
        size 16 << 20
        sized true
        usual { Contenders.usual.select { |name| Contenders.fetch(name).keeps_values? } }

        { "100b" => ["Strings of 100 bytes", 100], "1k" => ["Strings of 1,000 bytes", 1000],
          "10k" => ["Strings of 10,000 bytes", 10_000] }.each do |kind, (name, bytes)|
          block(kind, name, alone: true, fresh: true, slow: kind != "1k", unit: "write",
                            about: "where: the place that grew by the objects; taken: by how much, overhead too") do
            setup(&:must_be_filled)
            paced { |scene| Capacity.new(scene.contender, bytes).found }
            column("objects", "integer", sentence: "#{name} that are held", better: "higher", unit: "count") do |found|
              found["held"]
            end
            column("B each", "number", better: "lower", unit: "bytes") { |found| found["each"] }
            column("where", "text") { |found| found["where"] }
            column("taken", "bytes") { |found| found["taken"] }
            column("of its room", "percent") { |found| found["room"] }
            column("evicts", "text") { |found| found["evicts"] }
            column("refused", "integer") { |found| found["refused"] }
          end
        end
      end)
    end
  end
end
