# frozen_string_literal: true

require_relative "record/reader"
require_relative "suites/shop"

module Larder
  module Lab
    # A recorded cache, and how it is replayed. The suite "replay" measures it.
    # @api private
    module Replay
      autoload :Chapter, File.expand_path("replay/chapter", __dir__)
      autoload :Player, File.expand_path("replay/player", __dir__)

      # The trace of the demonstration application, see its README.
      DEMO = File.expand_path("../../../traces/demo.trace", __dir__)
      # Bytes of all values, at most.
      MOST_BYTES = 512 << 20
      TEXT = 1 << 20

      module_function

      # The chosen {Record::Recording}. Raises UsageError if it cannot be read, or its values would not fit in memory.
      def recording
        path, calls = Suites.fetch("replay").settings.values_at(:path, :calls)
        (@recordings ||= {})[[path, calls]] ||= Record::Reader.read(path, calls: calls).tap do |found|
          bytes = found.items.sum(&:size)
          next if bytes <= MOST_BYTES

          raise UsageError, "#{found.name}: its values have #{bytes >> 20} MB, and #{MOST_BYTES >> 20} can be " \
                            "replayed; --calls N reads fewer calls"
        end
      end

      # The reads of the chosen recording, as a {Hitratio::Trace}. Raises UsageError if it has none.
      def trace
        require_relative "hitratio/trace"
        Hitratio::Formats.trace_of(recording)
      end

      # Gives the items of a recording names and values again: values of the recorded sizes, different under each key,
      # and about three times as long as zlib makes them. Answers the recording.
      def fill(found = recording)
        found.items.each_with_index do |item, number|
          item.name ||= "#{item.space}/#{item.key}".freeze
          item.value ||= value(number, item.size)
        end
        found
      end

      # Replays all of it once, so that the store has what it would have, and counts.
      def open(scene)
        scene[:player] = Player.new(scene.store, fill)
        scene.figures.update(scene[:player].rehearse, { "disk" => scene.contender.disk_bytes }.compact)
      end

      def value(number, bytes)
        made = "#{number} "
        made << text.byteslice((number * 4099) % TEXT, bytes - made.bytesize) if made.bytesize < bytes
        made << text.byteslice(0, bytes - made.bytesize) while made.bytesize < bytes
        made.byteslice(0, bytes).freeze
      end

      def text
        @text ||= Array.new(TEXT / 2000) { |number| Suites::Shop::Text.html(number, 2000) }.join[0, TEXT]
      end
      private_class_method :value, :text
    end
  end
end
