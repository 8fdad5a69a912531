# frozen_string_literal: true

require_relative "shop"

module Larder
  module Lab
    module Suites
      # Single calls of Rails' cache API, with Strings from 100 bytes to 1 MB: for those who change a store.
      module Calls
        # Bytes of a String, by their names.
        SIZES = { "100 B" => 100, "1 KB" => 1_000, "10 KB" => 10_000, "100 KB" => 100_000, "1 MB" => 1_000_000 }.freeze
        # The size in all other blocks.
        SMALL = 100
        # Stored keys that calls go round, and the bytes that they have together at most.
        KEYS = 500
        MOST_BYTES = 10_000_000
        # Bytes at the beginning and the end of a String that each read compares, besides the length.
        ENDS = 32
        # Bytes of a value that is written into a full store, and the room of stores: to fill that takes each of them a
        # few seconds.
        LONG = 10_000
        ROOM = 64 * 1024 * 1024
        # Options of a fetch whose cost beyond the plain call is measured.
        OPTIONS = { "version" => { version: "7" }, "namespace" => { namespace: "larder-lab:tenant" },
                    "raw" => { raw: true }, "race" => { expires_in: 300, race_condition_ttl: 10 } }.freeze

        # Texts under the keys of a block, each with bytes of its own.
        class Texts
          def initialize(bytes, count = [KEYS, MOST_BYTES / bytes].min)
            html = Shop::Text.html(1, bytes + (count * ENDS * 2))
            @texts = Array.new(count) { |number| html.byteslice(number * ENDS * 2, bytes).freeze }
            @beginnings = @texts.map { |text| text.byteslice(0, ENDS).freeze }
            @ends = @texts.map { |text| text.byteslice(-ENDS, ENDS).freeze }
            @keys = Array.new(count) { |number| "calls/#{number}".freeze }
          end

          def key(number) = @keys[number % @keys.size]

          def text(number) = @texts[number % @texts.size]

          # True if it has the length, the beginning and the end of that text. Comparing all of a long String would be a
          # large part of the figure of each store.
          def right?(number, found)
            number %= @texts.size
            found.is_a?(String) && found.bytesize == @texts[number].bytesize &&
              found.start_with?(@beginnings[number]) && found.end_with?(@ends[number])
          end

          # Stores all of them, and compares each byte of each: true if all came back.
          def stored?(store, **options)
            @keys.zip(@texts).each { |key, text| store.write(key, text, **options) }
            @keys.zip(@texts).all? { |key, text| store.read(key, **options) == text }
          end

          # Keys and texts in groups of `count`.
          def groups(count) = @keys.zip(@texts).each_slice(count).map(&:to_h)
        end

        module_function

        def fill(scene, bytes = SMALL, **options)
          scene[:texts] = Texts.new(bytes)
          return if scene[:texts].stored?(scene.store, **options) || !scene.keeps?

          raise Invalid, "a wrong value: a String of #{bytes} bytes did not come back as it was stored"
        end

        # Stores under a key that is not there: all of them together have no room. Without compression, so that the time
        # is that of the pages.
        def write_new(scene, number)
          key = "new/#{number % (ROOM * 2 / LONG)}"
          scene.store.write(key, scene[:texts].text(number), compress: false) ? true : false
        end

        # Stores more than there is room for, so that each later write drops something where the store is limited.
        def overfill(scene)
          scene.must_be_filled
          scene[:texts] = Texts.new(LONG)
          (ROOM * 5 / 4 / LONG).times do |number|
            scene.store.write("old/#{number}", scene[:texts].text(number), compress: false)
          end
        end
      end

      register("calls", Bench::Suite.define("calls") do
        title "Single calls of the cache API of Rails"
        command "calls", "time of single calls by size of the value, and the least that a cache in Ruby takes", <<~TEXT
          Measures single calls of Rails' cache API with Strings from 100 bytes to 1 MB:
          reads and writes, misses, read_multi and write_multi, deletes, counters,
          options, and calls with a subscriber to their events. Unless --only names
          others, the rows are larder, memory, file, litecache, redis and the floor,
          which is not a store: it looks a key up in a Hash and copies the value, the
          least a cache in Ruby does.
        TEXT
        answers "read_100b", "write_100b", "fetch_hit"
        size Calls::ROOM
        usual { %w[larder memory file litecache redis floor] }
        question "How long does each call take, and how long the least that a cache in Ruby does?"

        read = ->(scene, i, _) { scene[:texts].right?(i, scene.store.read(scene[:texts].key(i))) }
        write = ->(scene, i, _) { scene.store.write(scene[:texts].key(i), scene[:texts].text(i)) ? true : false }
        fetch = lambda do |scene, i, _|
          scene[:texts].right?(i, scene.store.fetch(scene[:texts].key(i), expires_in: 300) { "missed" })
        end
        fill = Calls.method(:fill)
        overfill = Calls.method(:overfill)
        write_new = proc { |scene, i| Calls.write_new(scene, i) }

        Calls::SIZES.each do |size, bytes|
          key = size.delete(" ").downcase
          sized = ->(scene) { Calls.fill(scene, bytes) }
          block("read_#{key}", "read, #{size}", about: "a hit; HTML", setup: sized, call: read)
          block("write_#{key}", "write, #{size}", about: "over a stored value; HTML", setup: sized, call: write)
        end

        block(:write_full, "write, 10 KB, full store", about: "uncompressed; a new key takes the room of others",
                                                       setup: overfill, call: write_new)
        block(:write_cold, "first writes of a process, 10 KB", cold: 50, about: "the same in a new process",
                                                               setup: overfill, call: write_new) do
          load { |scene| scene[:texts] = Calls::Texts.new(Calls::LONG) }
        end

        block(:read_miss, "read of a missing key") { call { |scene, i| scene.store.read("missing/#{i}").nil? } }

        block(:fetch_hit, "fetch, hit", about: "100 B, with `expires_in:`", setup: fill, call: fetch)

        Calls::OPTIONS.each do |name, options|
          block("fetch_#{name}", "fetch, hit, #{options.keys.last}:", about: "100 B") do
            setup { |scene| Calls.fill(scene, **options.except(:race_condition_ttl)) }
            call do |scene, i|
              scene[:texts].right?(i, scene.store.fetch(scene[:texts].key(i), **options) { "missed" })
            end
          end
        end

        { read: ["read, 100 B", read], fetch: ["fetch, hit", fetch], write: ["write, 100 B", write] }
          .each do |name, (title, code)|
          block("#{name}_subscribed", "#{title}, with a subscriber", about: "100 B; to all events of the cache",
                                                                     call: code, **Shop.monitored(fill))
        end

        [10, 100].each do |count|
          block("read_multi_#{count}", "read_multi of #{count}", about: "Strings of 1 KB") do
            setup do |scene|
              Calls.fill(scene, 1_000)
              scene[:groups] = scene[:texts].groups(count)
            end
            call do |scene, i|
              group = scene[:groups][i % scene[:groups].size]
              scene.store.read_multi(*group.keys) == group
            end
          end

          block("write_multi_#{count}", "write_multi of #{count}", about: "Strings of 1 KB") do
            setup { |scene| scene[:groups] = Calls::Texts.new(1_000).groups(count) }
            call { |scene, i| scene.store.write_multi(scene[:groups][i % scene[:groups].size]) ? true : false }
          end
        end

        block(:write_delete, "write and delete", about: "100 B; each call deletes a key that it has written") do
          setup { |scene| scene[:texts] = Calls::Texts.new(Calls::SMALL) }
          call do |scene, i|
            key = scene[:texts].key(i)
            scene.store.write(key, scene[:texts].text(i))
            scene.store.delete(key) ? true : false
          end
        end

        block(:increment, "increment of a counter", about: "with `expires_in:`") do
          call { |scene, i| scene.store.increment("counter/#{i % 50}", 1, expires_in: 300) ? true : false }
        end
      end)
    end
  end
end
