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

      # A recording with keys and values made again: of the recorded sizes, different under each key, and about three
      # times as long as zlib makes them.
      class Script
        # An item of the recording with its new key and value.
        Entry = Struct.new(:key, :value, :ttl, :compute, :stored, :counter, :warm)
        # A request: seconds since the first, and its calls: operation, entries, keys.
        Request = Struct.new(:start, :steps)

        # Bytes of all values, at most.
        MOST_BYTES = 512 << 20
        TEXT = 1 << 20

        attr_reader :recording

        # Raises UsageError if the values would not fit in memory.
        def initialize(recording)
          @recording = recording
          bytes = recording.items.sum(&:size)
          return if bytes <= MOST_BYTES

          raise UsageError, "#{recording.name}: its values have #{bytes >> 20} MB, and #{MOST_BYTES >> 20} can be " \
                            "replayed; --calls N reads fewer calls"
        end

        # All that are stored or read.
        def entries
          @entries ||= recording.items.map.with_index do |item, number|
            Entry.new("#{item.space}/#{item.key}".freeze, value(number, item.size), item.ttl, item.compute,
                      item.stored && !item.counter, item.counter, item.warm)
          end
        end

        def requests
          @requests ||= begin
            entry_of = recording.items.zip(entries).to_h.compare_by_identity
            recording.requests.map do |request|
              steps = request.steps.map { |operation, items| [operation, items.map { |item| entry_of.fetch(item) }] }
              Request.new(request.start - recording.requests.first.start,
                          steps.map { |operation, entries| [operation, entries, entries.map(&:key)] })
            end
          end
        end

        private

        def value(number, bytes)
          made = "#{number} "
          made << text.byteslice((number * 4099) % TEXT, bytes - made.bytesize) if made.bytesize < bytes
          made << text.byteslice(0, bytes - made.bytesize) while made.bytesize < bytes
          made.byteslice(0, bytes).freeze
        end

        def text
          @text ||= Array.new(TEXT / 2000) { |number| Suites::Shop::Text.html(number, 2000) }.join[0, TEXT]
        end
      end
    end
  end
end
