# frozen_string_literal: true

require_relative "../shop/text"

module Larder
  module Lab
    module Suites
      module Replay
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
          private_constant :TEXT

          # @return [Record::Recording]
          attr_reader :recording

          # @param recording [Record::Recording]
          # @raise [UsageError] if its values would not fit in memory
          def initialize(recording)
            @recording = recording
            bytes = recording.items.sum(&:size)
            return if bytes <= MOST_BYTES

            raise UsageError, "#{recording.name}: its values have #{bytes >> 20} MB, and #{MOST_BYTES >> 20} can be " \
                              "replayed; --calls N reads fewer calls"
          end

          # @return [Array<Entry>] all that are stored or read
          def entries
            @entries ||= recording.items.map.with_index do |item, number|
              Entry.new("#{item.space}/#{item.key}".freeze, value(number, item.size), item.ttl, item.compute,
                        item.stored && !item.counter, item.counter, item.warm)
            end
          end
          alias values entries

          # @return [Array<Request>]
          def requests
            @requests ||= begin
              entry_of = recording.items.zip(entries).to_h.compare_by_identity
              first = recording.requests.first.start
              recording.requests.map do |request|
                Request.new(request.start - first, request.steps.map do |operation, items|
                  [operation, items.map { |item| entry_of.fetch(item) }, items.map { |item| entry_of.fetch(item).key }]
                end)
              end
            end
          end

          private

          def value(number, bytes)
            head = "#{number} "
            return head.byteslice(0, bytes).freeze if bytes <= head.bytesize

            from = (number * 4099) % TEXT
            (head + text.byteslice(from, bytes - head.bytesize)).then do |made|
              made << text.byteslice(0, bytes - made.bytesize) while made.bytesize < bytes
              made.freeze
            end
          end

          def text
            @text ||= Array.new(TEXT / 2000) { |number| Shop::Text.html(number, 2000) }.join[0, TEXT]
          end
        end
      end
    end
  end
end
