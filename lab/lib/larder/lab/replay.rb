# frozen_string_literal: true

require_relative "record/reader"

module Larder
  module Lab
    # A recorded cache, and how it is replayed. The suite "replay" measures it.
    # @api private
    module Replay
      autoload :Chapter, File.expand_path("replay/chapter", __dir__)
      autoload :Player, File.expand_path("replay/player", __dir__)
      autoload :Script, File.expand_path("replay/script", __dir__)

      # The trace of the demonstration application, see its README.
      DEMO = File.expand_path("../../../traces/demo.trace", __dir__)

      module_function

      # The {Script} of the chosen recording. Raises UsageError if that cannot be read.
      def script
        path, calls = Suites.fetch("replay").settings.values_at(:path, :calls)
        (@scripts ||= {})[[path, calls]] ||= Script.new(Record::Reader.read(path, calls: calls))
      end

      # The reads of the chosen recording, as a {Hitratio::Trace}. Raises UsageError if it has none.
      def trace
        require_relative "hitratio/trace"
        Hitratio::Formats.trace_of(script.recording)
      end

      # Replays all of it once, so that the store has what it would have, and counts.
      def open(scene)
        scene[:player] = Player.new(scene.store, script)
        scene.figures.update(scene[:player].rehearse, { "disk" => scene.contender.disk_bytes }.compact)
      end
    end
  end
end
