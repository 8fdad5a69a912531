# frozen_string_literal: true

# Builds the table about loading: its time, and the bytes that sessions take beyond their data.

require_relative "../document"

module Larder
  module Lab
    module SessionStats
      # What each contender loaded, once for all rounds.
      class Room
        NOTES = ["B each: with index, counters and all else beside the data, which is JSON everywhere; signed in: of " \
                 "one whose user is signed in, with the user's entry and counters of minutes and hours, which weigh " \
                 "where sessions are few, beyond its data. In SQL sessions are inserted 1,000 at a time, and the " \
                 "indexes made afterwards; in Larder each is begun as by a request."].freeze

        # @param results [Loads::Results]
        def initialize(results)
          @results = results
          @names = results.measured.map(&:name) - results.twins.first(1)
        end

        # @return [Document::Table]
        def table
          columns = [{ title: "sessions", format: "integer" }, { title: "" },
                     { title: "loading", format: "seconds" }, { title: "µs each", format: "micros", optional: 2 },
                     { title: "B each", format: "integer" }, { title: "beyond data", format: "integer" },
                     { title: "signed in", format: "integer", optional: 1 }]
          rows = sizes.product(@names).filter_map { |size, name| row(name, size) }
          Document::Table.build(columns: columns, rows: rows, notes: NOTES)
        end

        # @param name [String]
        # @param size [Integer] sessions
        # @return [Float, nil] bytes of one whose user is signed in, beyond its data
        def signed_in(name, size)
          event = loaded(name, size) or return
          return unless event["signed_in_bytes"]

          (event["signed_in_bytes"] - event["data_bytes"]["signed_in"]).fdiv(event["signed_in"])
        end

        # @return [Array<Document::Measure>]
        def measures
          sizes.product(@names).filter_map do |size, name|
            event = loaded(name, size) or next

            Document::Measure.new(key: "session-stats/#{size}/bytes/#{name}",
                                  label: "#{name}: bytes a session, of #{size}",
                                  unit: "bytes", better: "lower", samples: [event["bytes"].fdiv(size)])
          end
        end

        private

        def sizes
          @results.plan.settings[:sizes]
        end

        # Both measurements of a contender share what the first one loaded.
        def loaded(name, size)
          [name, *@results.twins.first(1)].flat_map { |row| @results.of(row, "loaded", size: size) }
                                          .find { |event| event["row"].delete_suffix(" (A/A)") == name }
        end

        def row(name, size)
          event = loaded(name, size) or return
          bytes = event["bytes"].fdiv(size)
          [size, name, event["seconds"], event["seconds"] / size, bytes,
           bytes - event["data_bytes"]["all"].fdiv(size), signed_in(name, size)]
        end
      end
    end
  end
end
