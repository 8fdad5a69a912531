# frozen_string_literal: true

# Declares the blocks that fill a store with objects of one kind each.

require_relative "capacity/filling"

module Larder
  module Lab
    module Suites
      # Counts objects, and what they take.
      module Capacity
        # Objects, by the names users type: what they are, and their bytes.
        OBJECTS = { "1k" => ["Strings of 1,000 bytes", 1000], "100b" => ["Strings of 100 bytes", 100],
                    "10k" => ["Strings of 10,000 bytes", 10_000] }.freeze
        # Places where objects can be, and their names.
        PLACES = { "disk" => "disk", "tmpfs" => "memory (tmpfs)", "server" => "memory (server)",
                   "own" => "memory (own)" }.freeze

        module_function

        # The first place that has grown by half of the objects that are held, or by more.
        def place(process) = PLACES.keys.find { |name| process[name] > process["held"] * process["payload"] / 2 }

        # True if objects are gone that the store has taken.
        def evicts?(process) = process["held"] < process["written"] - process["refused"]

        # The bytes that the objects take in their place; nil if no place has grown.
        def taken(process)
          name = place(process)
          name && process[name]
        end

        # The bytes that each object takes.
        def bytes_each(process)
          bytes = taken(process)
          bytes.fdiv(process["held"]) if bytes && process["held"].positive?
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

        Capacity::OBJECTS.each do |kind, (name, bytes)|
          block(kind, name, alone: true, fresh: true, slow: kind != "1k", unit: "write",
                            about: "where: the place that grew by the objects; taken: by how much, overhead too") do
            setup(&:must_be_filled)
            paced { |scene| Capacity::Filling.new(scene.contender, bytes).found }
            column("objects", "integer", sentence: "#{name} that are held", better: "higher", unit: "count") do |found|
              found["held"]
            end
            column("B each", "number", better: "lower", unit: "bytes") { |found| Capacity.bytes_each(found) }
            column("where", "text") { |found| Capacity::PLACES[Capacity.place(found)] }
            column("taken", "bytes") { |found| Capacity.taken(found) }
            column("of its room", "percent") { |found| Capacity.taken(found)&.fdiv(found["size"]) }
            column("evicts", "text") { |found| Capacity.evicts?(found) }
            column("refused", "integer") { |found| found["refused"] }
          end
        end
      end)
    end
  end
end
