# frozen_string_literal: true

require_relative "../../clock"

module Larder
  module Lab
    module Suites
      module Machines
        # Changes keys on one machine and reads them on another all the time, each in a thread of its own. Versions of a
        # key go up from 1; 0 is the one before.
        class Ages
          include Clock

          # Keys, changes of each in a second, and seconds between two reads.
          KEYS = 8
          RATE = 5.0
          PAUSE = 0.0005

          # The seconds from each return of a write to the last read that answered what was before; 0: none did. Changes
          # of a key are times: when each write began, and when it had returned. Reads are version => when the last read
          # that answered it began.
          def self.of(changes, reads)
            changes.map.with_index(1) do |(_, returned), version|
              last = reads.filter_map { |seen, began| began if seen < version }.max || returned
              [last - returned, 0.0].max
            end
          end

          def initialize(store)
            @store = store
          end

          # Stores the first versions.
          def begin = KEYS.times { |key| @store.write("watched/#{key}", 0, **KEPT) }

          # Answers changes by key, see {Ages.of}.
          def change(until_then)
            each_key do |key|
              random = Random.new(key)
              changes = []
              while (due = now - (Math.log(1.0 - random.rand) / RATE)) < until_then
                sleep([due - now, 0].max)
                began = now
                @store.write("watched/#{key}", changes.size + 1, **KEPT)
                changes << [began, now]
              end
              changes
            end
          end

          # Answers reads by key, see {Ages.of}.
          def watch(until_then)
            each_key do |key|
              reads = {}
              while (began = now) < until_then
                reads[@store.read("watched/#{key}")] = began
                sleep PAUSE
              end
              reads
            end
          end

          private

          def each_key = Array.new(KEYS) { |key| Thread.new { yield key } }.map(&:value)
        end
      end
    end
  end
end
