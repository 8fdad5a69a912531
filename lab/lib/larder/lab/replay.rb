# frozen_string_literal: true

# Replays a recorded cache: which recording that is, and how fast. The suite "replay" measures it.

require "json"
require_relative "record/reader"

module Larder
  module Lab
    # A recording, and how it is replayed. Worker processes get that from the environment.
    module Replay
      autoload :Chapter, File.expand_path("replay/chapter", __dir__)
      autoload :Player, File.expand_path("replay/player", __dir__)
      autoload :Script, File.expand_path("replay/script", __dir__)

      VARIABLE = "LARDER_LAB_REPLAY"
      # The trace of the demonstration application, see its README.
      DEMO = File.expand_path("../../../traces/demo.trace", __dir__)
      USUAL = { path: DEMO, calls: 20_000, speed: 1.0, window: 10.0 }.freeze
      private_constant :VARIABLE

      module_function

      # @param settings [Hash{Symbol=>Object}] `path`; `calls` that are read; `speed`, how many times as fast as
      #   recorded; `window`, seconds of a replay at the recorded times
      # @return [void]
      def choose(**settings)
        ENV[VARIABLE] = JSON.generate(settings)
        @settings = @script = nil
      end

      # @return [Hash{Symbol=>Object}] see {.choose}
      def settings
        @settings ||= USUAL.merge(JSON.parse(ENV.fetch(VARIABLE, "{}"), symbolize_names: true))
      end

      # @return [Script]
      # @raise [UsageError] if the recording cannot be read
      def script
        @script ||= Script.new(Record::Reader.read(settings[:path], calls: settings[:calls]))
      end

      # Replays all of it once, so that the store has what it would have, and counts.
      # @param scene [Bench::Scene] keeps the player
      # @return [void]
      def open(scene)
        scene[:player] = Player.new(scene.store, script)
        scene.figures.update(scene[:player].rehearse, { "disk" => scene.contender.disk_bytes }.compact)
      end
    end
  end
end
