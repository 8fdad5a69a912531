# frozen_string_literal: true

# Declares the blocks that replay a recorded cache.

require_relative "../histogram"
require_relative "../replay"

module Larder
  module Lab
    module Suites
      register("replay", Bench::Suite.define("replay") do
        title "A recorded cache, replayed"
        command "replay", "calls that an application has recorded, on every store: time, hits, memory, size", <<~TEXT
          Replays the calls of a cache that an application has recorded, as fast as
          possible and at the recorded times: the milliseconds of a request, hits, memory,
          saved computing, and the size that the cache needs. An application records by
            require "larder/lab/record"
            Larder::Lab.record("log/cache.trace")
          The file has no key and no value: values are made again with the recorded sizes,
          and stored where a read misses. Without a FILE the demonstration is replayed.
        TEXT
        answers "fast", "timed"
        sized true
        setting :path, Replay::DEMO, "a recording", file: -> { Replay.trace }
        setting :calls, 20_000, "calls that are read"
        setting :speed, 1.0, "how many times as fast as recorded"
        setting :window, 10.0, "seconds at recorded times in a session", most: 60
        preload { Replay.fill }
        question "How long does the cache of a recorded request take on each store?"
        chapter { Replay::Chapter }

        block(:fast, "as fast as possible", unit: "request",
                                            about: "the recorded requests, one after the other; saved: the recorded " \
                                                   "time of computing the values that were hits") do
          setup { |scene| Replay.open(scene) }
          call { |scene, i| scene[:player].play(i) }
          column("hits", "share", sentence: "Reads that were hits") { |found| found["hits"].fdiv(found["reads"]) }
          column("saved a request", "seconds") { |found| found["saved"] / Replay.recording.requests.size }
          column("on disk", "bytes") { |found| found["disk"] }
        end

        block(:timed, "at the recorded times", unit: "request", about: "by all stores at the same time") do
          setup { |scene| scene[:player] = Replay::Player.new(scene.store, Replay.fill) }
          paced { |scene| scene[:player].play_on_time(**scene.settings.slice(:speed, :window)) }
          { "p50" => 0.5, "p99" => 0.99 }.each do |title, share|
            column(title, "seconds", all: true) { |all| Histogram.of(all).percentile(share) }
          end
        end
      end)
    end
  end
end
