# frozen_string_literal: true

# The targets, each beside the figure it is judged by.

require_relative "figure"
require_relative "monitors"

module Bench
  # One line of the table. `figure` names a figure of `part`; where `inverse`, its reciprocal is meant. `sense` is
  # :least (the figure must be at least `bound`) or :most.
  Target = Struct.new(:what, :part, :figure, :sense, :bound, :inverse, keyword_init: true) do
    # @param figures [Array<Bench::Figure>, nil] of the part; nil where it was not run
    # @return [Bench::Figure, nil] what was measured, turned round where inverse
    def measured(figures)
      found = figures&.find { |one| one.name == figure }
      return found unless found && inverse

      low, high = [found.high, found.low].map { |value| value && (1.0 / value) }
      Figure.new(name: found.name, unit: found.unit, median: 1.0 / found.median, low: low, high: high)
    end

    # Judged by the number itself, not by what is written of it.
    # @param value [Numeric] a median
    # @return [Boolean]
    def met?(value)
      sense == :least ? value >= bound : value <= bound
    end

    # @return [Symbol] how its figures are rounded, see {Rounding}
    def rounding
      sense == :least ? :down : :up
    end
  end

  # All of them, in the order of the report.
  module Targets
    # Larder and what its calls take with the least that a cache in Ruby can do: what, part, figure, at most.
    FLOORS = [
      ["page of ten fragments: the store's share, %", "applications", "page: larder's share", 2],
      ["index of 50 fragments: the store's share, %", "applications", "index: larder's share", 2],
      ["`cache do` in a view, us above its floor", "applications", "page: larder above floor, a key", 3],
      ["fragment, read, us above its floor", "applications", "fragment: larder above floor", 3],
      ["fragment, written, us above its floor", "applications", "fragment_write: larder above floor", 3],
      ["fragment, read while all events have a subscriber, us above its floor", "applications",
       "monitored: larder above floor", 1.5],
      ["fetch, hit, while all events have a subscriber, us above its floor", "calls",
       "fetch_subscribed: larder above floor", 1.5],
      ["read_multi of 100, us a key above its floor", "calls", "read_multi_100: larder above floor, a key", 1],
      ["write_multi of 100, us a key above its floor", "calls", "write_multi_100: larder above floor, a key", 1],
      *{ "version" => "version:", "namespace" => "namespace:", "race" => "race_condition_ttl:",
         "raw" => "raw:" }.map do |block, option|
        ["#{option}, us above the plain call", "calls", "fetch_#{block}: larder above fetch_hit", 0.5]
      end,
      *["10 KB", "100 KB", "1 MB"].map do |size|
        ["String of #{size}, read: times a Hash and a copy", "calls",
         "read_#{size.delete(" ").downcase}: larder as floor", 1.5]
      end
    ].map do |what, part, figure, bound|
      Target.new(what: what, part: part, figure: figure, sense: :most, bound: bound)
    end.freeze

    # Calls in an application that is watched: no call may take longer than MemoryStore's.
    MONITORS = Monitors::NAMES.product(Monitors::CALLS).map do |monitor, call|
      Target.new(what: "#{call} under #{monitor}, MemoryStore: times as long", part: "monitors",
                 figure: "#{monitor}, #{call}: memory as larder", sense: :least, bound: 1)
    end.freeze

    # Times as long as larder, in the lab: what, part, figure, at least.
    STORES = [
      *{ "hit" => ["fetch hit, 1 thread", 20, 12, 60], "hit_published" => ["fetch hit, 5 threads", 20, 12, 60],
         "miss" => ["miss, block and write, 1 thread", 25, 12, 60],
         "miss_corrected" => ["miss, block and write, 5 threads", 25, 12, 60] }.flat_map do |block, (what, *bounds)|
        [["Litecache", "litecache"], ["MemoryStore", "memory"], ["Redis on loopback", "redis-loopback"]]
          .zip(bounds).map { |(title, row), bound| ["#{what}, #{title}", "published", "#{block}: #{row}", bound] }
      end,
      ["a fragment of 2 KB, written, MemoryStore", "applications", "fragment_write: memory", 2],
      ["an Active Record object, read, MemoryStore", "applications", "record: memory", 3],
      ["an Active Record object, written, MemoryStore", "applications", "record_write: memory", 3],
      ["25 Active Record objects, written, MemoryStore", "applications", "records_write: memory", 6],
      ["hit with a subscriber, MemoryStore", "calls", "fetch_subscribed: memory", 3],
      ["read_multi of 100, MemoryStore", "calls", "read_multi_100: memory", 10],
      ["read_multi of 100, Redis", "calls", "read_multi_100: redis", 15],
      *["1 KB", "10 KB", "100 KB"].map do |size|
        ["String of #{size}, written, MemoryStore", "calls", "write_#{size.delete(" ").downcase}: memory", 2]
      end,
      ["read of 1 MB, Redis", "calls", "read_1mb: redis", 4],
      ["read of 1 MB, FileStore", "calls", "read_1mb: file", 2]
    ].map do |what, part, figure, bound|
      Target.new(what: "#{what}: times as long", part: part, figure: "#{figure} as larder", sense: :least, bound: bound)
    end.freeze

    # what, part, figure, sense, bound, inverse
    ENGINE = [
      ["two processes, 95 % reads: times one", "processes", "95 % reads of 100,000 keys: 2 as one", :least, 1.9],
      ["pages with records that reads stored to", "processes", "pages with records that reads stored to", :most, 0],
      *["16 hot keys", "100,000 keys", "1,000,000 keys"].flat_map do |keys|
        [["through an index", "floor, index"], ["over an array", "floor, array"]].map do |how, floor|
          ["get, #{keys}: times a bare loop #{how}", "engine", "get, #{keys}: #{floor} as the first", :most, 1.5, true]
        end
      end,
      ["get, 100,000 keys: LMDB, times as long", "engine", "get, 100,000 keys: lmdb as the first", :least, 2.2],
      ["get_multi of 64, 1,000,000 keys: times as fast as gets", "engine",
       "get_multi of 64, 1,000,000: get_multi as the first", :least, 2.5, true],
      ["set, 100,000 keys: LMDB without sync, times as long", "engine", "set, 100,000 keys: lmdb as the first", :least,
       3],
      ["set p99.99 on a disk: times a bare append", "tails-disk", "set as bare append, p99.99, fresh", :most, 2],
      ["set p99.99 in memory: times a bare append", "tails-memory", "set as bare append, p99.99, fresh", :most, 2],
      *["tails-disk", "tails-memory"].product(["1 process", "4 processes"], %w[set get]).map do |part, who, call|
        ["#{call} p99.99 of #{who} while another verifies and prunes#{", in memory" if part == "tails-memory"}: " \
         "times a bare append", part, "#{call} as bare append, p99.99, #{who}", :most, 2]
      end,
      *["new", "written back"].product([10_000, 20_000]).map do |state, bytes|
        ["set of #{bytes / 1000} KB into pages that are #{state}: times hot", "cold",
         "#{bytes} bytes, #{state}: times hot", :most, 3]
      end,
      *["new", "written back"].map do |state|
        ["set of 2 KB into pages that are #{state}: times hot and the lower floor", "cold",
         "2000 bytes, #{state}: times hot and the lower floor", :most, 1]
      end,
      *[[1000, "1 KB"], [10_000, "10 KB"], [60_000, "60 KB"]]
        .product([["3/4 of the file", 0.8], ["1/2 of the file", 0.5]]).flat_map do |(bytes, size), (memory, bound)|
          [["sets of #{size} with memory for #{memory}: rate, times as unlimited", "limited",
            "set of #{bytes} bytes, #{memory}: rate as unlimited", :least, bound],
           ["sets of #{size} with memory for #{memory}: rate, times write(2) there", "limited",
            "set as write(2) of #{bytes} bytes, #{memory}", :least, 1]]
        end,
      ["overhead an object of 100 bytes", "density", "100 bytes: overhead an object, before eviction", :most, 40],
      ["overhead an object of 1,000 bytes", "density", "1000 bytes: overhead an object, before eviction", :most, 40],
      ["open a warm 1 GiB file, first process, us", "attach", "open, as the only process", :most, 2_000],
      ["open a warm 1 GiB file, further process, us", "attach", "open, with another process", :most, 2_000],
      ["first get of a forked child, us", "attach", "first get, in a forked child", :most, 2_000],
      *{ "first process" => "as the only process", "further process" => "with another process",
         "forked child" => "in a forked child" }.map do |title, who|
        ["CPU time until the first get, #{title}, us", "attach", "CPU time until the first get, #{who}", :most, 500]
      end,
      ["an application whose dashboard is open and whose metrics are scraped: processor time for that, %", "watched",
       "processor time of the application that statistics, dashboard and metrics take", :most, 1],
      ["open a file of 40 GiB with 100 million items, 33rd process, us", "many", "open, one more process", :most,
       50_000]
    ].map do |what, part, figure, sense, bound, inverse|
      Target.new(what: what, part: part, figure: figure, sense: sense, bound: bound, inverse: inverse == true)
    end.freeze

    # The trace for which misses of other policies were published.
    CLOUD = "cloudPhysicsIO.oracleGeneral.bin"

    EVICTION = [
      ["misses on the cloud trace at 512 MiB, %", "misses-fixed", "#{CLOUD}, 512MiB: larder", :most, 64],
      ["misses on the cloud trace at 1024 MiB, %", "misses-fixed", "#{CLOUD}, 1GiB: larder", :most, 58],
      ["misses on any trace and size: points above LRU of equal net bytes", "misses",
       "larder above LRU of equal net bytes, at most", :most, 1.2],
      ["way from LRU to Belady, mean over traces and sizes, %", "misses",
       "larder on the way from LRU to Belady, mean", :least, 29],
      ["200 and 1,000 objects of 100 KB: points between two files of one trace and size", "misses-few",
       "larder, rounds apart, at most", :most, 1],
      ["200 and 1,000 objects of 100 KB: points above LRU of equal net bytes", "misses-few",
       "larder above LRU of equal net bytes, at most", :most, 0],
      ["200 and 1,000 objects of 100 KB: way from LRU to Belady, mean, %", "misses-few",
       "larder on the way from LRU to Belady, mean", :least, 25]
    ].map do |what, part, figure, sense, bound|
      Target.new(what: what, part: part, figure: figure, sense: sense, bound: bound)
    end.freeze

    # While keys are overwritten. ADR 0041 has the limits of any log that is cleaned.
    OVERWRITES = %w[uniform zipf sessions].flat_map do |pattern|
      part = "#{pattern}, 1000 bytes"
      [Target.new(what: "overwrites, #{part}: live, % of what fits", part: "overwrites",
                  figure: "#{part}: live, of what fits without overwrites", sense: :least, bound: 85),
       Target.new(what: "overwrites, #{part}: times the bytes of sets appended", part: "overwrites",
                  figure: "#{part}: bytes appended as bytes of sets", sense: :most, bound: 3.5)]
    end.freeze

    # @return [Array<Bench::Target>]
    ALL = [*FLOORS, *MONITORS, *STORES, *ENGINE, *EVICTION, *OVERWRITES].freeze
  end
end
