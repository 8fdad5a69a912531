# frozen_string_literal: true

# Declares the blocks that replay a recorded cache.

require_relative "../replay"

module Larder
  module Lab
    module Suites
      register("replay", Bench::Suite.define("replay") do
        title "A recorded cache, replayed"
        chapter { Replay::Chapter }
        answers :fast, :timed
        size chosen: true
        setting :calls, 20_000, "calls that are read"
        setting :speed, 1.0, "how many times as fast as recorded"
        setting :window, 10.0, "seconds at the recorded times in each session", most: 60
        preload { Replay.script.requests }
        question "How long does the cache of a recorded request take on each store?"

        block(:fast, "as fast as possible", unit: "request", about: "the recorded requests, one after the other") do
          setup { |scene| Replay.open(scene) }
          call { |scene, i| scene[:player].play(i) }
        end

        block(:timed, "at the recorded times", unit: "request", about: "by all stores at the same time") do
          setup { |scene| scene[:player] = Replay::Player.new(scene.store, Replay.script) }
          paced { |scene| scene[:player].play_on_time(**scene.settings.slice(:speed, :window)) }
        end
      end)
    end
  end
end
