# frozen_string_literal: true

# Runs the guarded calls of the Rails store under callgrind and prints how many objects each allocates. The counts of
# instructions are in what callgrind dumps. Started by instruction_counts.rb: ruby operations.rb METER DIRECTORY

require "active_support"
require "active_support/cache"
require "active_support/cache/larder_store"
require "json"
require ARGV.fetch(0)

abort "operations.rb: runs under valgrind only" unless Meter.running?

CALLS = 5_000
VALUE = "Hello World!"
ROW = { "id" => 1234, "name" => "Pear", "price" => 1.5, "stock" => 17, "colour" => "green", "weight" => 180.25,
        "origin" => "South Tyrol", "organic" => true, "note" => nil, "category" => "fruit" }.freeze

ActiveSupport::Cache.format_version = 7.1
store = ActiveSupport::Cache.lookup_store(:larder_store, File.join(ARGV.fetch(1), "guard.larder"), { size: 64 << 20 })

OPERATIONS = {
  "fetch, hit" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["key", i % CALLS], expires_in: 300) { raise "a miss" }
      i += 1
    end
  end,
  "read, hit" => lambda do |count|
    i = 0
    while i < count
      store.read(["key", i % CALLS]) || raise("a miss")
      i += 1
    end
  end,
  "write" => lambda do |count|
    i = 0
    while i < count
      store.write(["key", i % CALLS], VALUE, expires_in: 300) || raise("refused")
      i += 1
    end
  end,
  "write of a Hash of ten" => lambda do |count|
    i = 0
    while i < count
      store.write(["row", i % CALLS], ROW, expires_in: 300) || raise("refused")
      i += 1
    end
  end,
  "fetch, hit of a Hash of ten" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["row", i % CALLS], expires_in: 300) { raise "a miss" }
      i += 1
    end
  end
}.freeze

# A collection would fall into one run and not into another, so there is none meanwhile: allocation counts, marking
# does not.
def measured(name)
  GC.start
  GC.disable
  Meter.start
  yield
  Meter.stop(name)
ensure
  GC.enable
end

def allocations
  GC.disable
  before = GC.stat(:total_allocated_objects)
  yield
  GC.stat(:total_allocated_objects) - before
ensure
  GC.enable
end

OPERATIONS.fetch("write").call(CALLS)
objects = OPERATIONS.to_h do |name, operation|
  3.times { operation.call(CALLS) } # until frequencies and inline caches are full
  # What 2n calls take more than n is free of what a loop takes by itself.
  measured("#{name}: n") { operation.call(CALLS) }
  measured("#{name}: 2n") { operation.call(2 * CALLS) }
  few = allocations { operation.call(CALLS) }
  [name, (allocations { operation.call(2 * CALLS) } - few).fdiv(CALLS)]
end
puts JSON.generate({ calls: CALLS, objects: objects })
