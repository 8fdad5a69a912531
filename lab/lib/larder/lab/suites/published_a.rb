# frozen_string_literal: true

module Larder
  module Lab
    module Suites
      # The published comparison of cache stores, as published and corrected:
      # Rails.cache.fetch(["key", i], expires_in: 5.minutes) { "Hello World!" }
      module PublishedA
        HELLO = "Hello World!"
        # Stored keys that hits go round.
        KEYS = 500
        # Threads of the blocks that have several.
        THREADS = 5

        module_function

        def fetch(scene, number) = scene.store.fetch(["key", number], expires_in: 5.minutes) { HELLO } == HELLO

        # false if the key was not stored
        def hit(scene, number) = scene.store.fetch(["key", number % KEYS], expires_in: 5.minutes) { "missed" } == HELLO

        def fill(scene)
          scene.store.write_multi((0...KEYS).to_h { |number| [["key", number], HELLO] }, expires_in: 5.minutes)
          scene.contender.filled
        end
      end

      register("published-a", Bench::Suite.define("published-a") do
        title "Stores through the cache API of Rails, as published and corrected"
        command "stores", "time of Rails.cache.fetch on every store: misses, hits, writes, one thread and several",
                <<~TEXT
                  The published comparison of Rails cache stores, on this machine:

                    Rails.cache.fetch(["key", i], expires_in: 5.minutes) { "Hello World!" }

                  A miss runs the block and writes; a hit reads. With one thread, with five as
                  published, where each counts from 0, and with five as corrected: misses of
                  keys of their own, hits of shared keys.
                TEXT
        answers "hit", "miss", "hit_corrected"
        usual { [*Contenders.usual, "solid_cache-postgresql-prewarmed"] }
        question "How long does the published call take on each store?"

        fill = PublishedA.method(:fill)
        miss = proc { |scene, i| PublishedA.fetch(scene, i) }
        hit = proc { |scene, i| PublishedA.hit(scene, i) }
        five = { threads: PublishedA::THREADS }

        block(:miss, "miss, one thread", short: "miss, 1 thread", call: miss)
        block(:hit, "hit, one thread", short: "hit, 1 thread", setup: fill, call: hit)
        block(:miss_published, "miss, five threads, each from 0", short: "miss, 5 threads from 0", call: miss, **five)
        block(:hit_published, "hit, five threads, each from 0", short: "hit, 5 threads from 0", setup: fill, call: hit,
                                                                **five)
        block(:miss_corrected, "miss, five threads, keys of their own", short: "miss, 5 own keys", **five) do
          call { |scene, i, thread| PublishedA.fetch(scene, (i * PublishedA::THREADS) + thread) }
        end
        block(:hit_corrected, "hit, five threads, shared keys", short: "hit, 5 shared keys", setup: fill, **five) do
          call { |scene, i, thread| PublishedA.hit(scene, i + (thread * PublishedA::KEYS / PublishedA::THREADS)) }
        end
        block(:write, "write, one thread", short: "write, 1 thread") do
          call { |scene, i| scene.store.write(["key", i], PublishedA::HELLO, expires_in: 5.minutes) ? true : false }
        end
      end)
    end
  end
end
