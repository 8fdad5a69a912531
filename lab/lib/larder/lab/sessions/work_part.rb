# frozen_string_literal: true

# Builds the sections about the work that a session adds to a request.

require_relative "part"

module Larder
  module Lab
    module Sessions
      # The middleware alone, less the same request without it.
      class WorkPart < Part
        # Operations, and what they are in a heading.
        OPERATIONS = { "unchanged" => "a session is read and left as it is", "changed" => "one value is changed",
                       "new" => "a session begins" }.freeze
        # The row of the time that the middleware itself takes.
        FLOOR = "hash"
        NOTE = "Microseconds that the session adds to a request. Each session was used less than a minute before: " \
               "Larder marks a session as used once a minute, which is a write more then."

        # @return [Array<Document::Section>]
        def sections
          [section("What a session adds to a request: #{OPERATIONS["unchanged"]}", unchanged, chart, headline: true),
           section("What a session adds where it is changed, and where it begins", others)].compact
        end

        # @return [Array<String>]
        def conclusions
          [larder, *beside, floor, noise].compact
        end

        # @return [Array<Document::Measure>]
        def measures
          OPERATIONS.keys.flat_map do |operation|
            names.filter_map { |name| measure(name, operation) }
          end
        end

        # @return [Hash{Array<String>=>Array<Float>}]
        def blocks
          names.product(OPERATIONS.keys).to_h { |name, operation| [[name, operation], samples(name, operation)] }
               .reject { |_, samples| samples.empty? }
        end

        # @param operation [String]
        # @return [Loads::Ratios] of seconds that a session adds
        def ratios_of(operation)
          (@ratios ||= {})[operation] ||= ratios(names.to_h { |name| [name, samples(name, operation)] })
        end

        # @param name [String]
        # @return [Statistics::Estimate, nil] seconds that it adds to an unchanged session beyond the floor
        def above_floor(name)
          mine, floor = [name, FLOOR].map { |each| samples(each, "unchanged") }
          return if mine.empty? || mine.size != floor.size

          Statistics.estimate(mine.zip(floor).map { |one, other| one - other })
        end

        private

        # Seconds, one for each round.
        def samples(name, operation)
          events(name, operation).map { |event| (event["seconds"] - event["without"]) / event["calls"] }
        end

        def events(name, operation)
          results.of(name, part: "work", operation: operation)
        end

        def unchanged
          ratios = ratios_of("unchanged")
          columns = [{ title: "" }, { title: "µs", format: "micros" },
                     { title: "times #{ratios.base}", format: "ratio" },
                     { title: "request without", format: "micros", optional: 1 }]
          rows = ratios.ranking.map { |name| [name, ratios.median(name), times(ratios, name), without(name)] }
          D::Table.build(columns: columns, rows: rows, notes: [NOTE])
        end

        # Seconds of a request that has nothing to do with sessions.
        def without(name)
          events = events(name, "unchanged")
          Statistics.median(events.map { |event| event["without"] / event["calls"] })
        end

        def chart
          ratios = ratios_of("unchanged")
          D::Intervals.build(title: "A session is read and left as it is", rows: dots(ratios),
                             x: { title: "µs that the session adds", scale: "log", format: "micros" },
                             sentence: "Reading a session and leaving it as it is adds #{range(ratios)} to a request.")
        end

        def time(ratios, name)
          Figures.duration(ratios.median(name)["value"])
        end

        def others
          all = %w[changed new].map { |operation| ratios_of(operation) }
          columns = [{ title: "" }, *%w[changed new].each_with_index.flat_map do |operation, at|
            [{ title: "µs", format: "micros", group: operation },
             { title: "times #{all.first.base}", format: "ratio", group: operation, optional: at + 1 }]
          end]
          rows = all.first.ranking.map do |name|
            [name, *all.flat_map { |ratios| [ratios.median(name)&.fetch("value"), times(ratios, name)] }]
          end
          D::Table.build(columns: columns, rows: rows)
        end

        def larder
          return unless once.include?("larder")

          parts = OPERATIONS.keys.map { |operation| "#{time(ratios_of(operation), "larder")} (#{operation})" }
          "Larder's sessions add #{parts.join(", ")} to a request."
        end

        # The stores that Larder is measured against.
        def beside
          %w[memcached redis sql-mariadb activerecord-mariadb].filter_map do |name|
            ratios = ratios_of("unchanged")
            next unless ratios.base == "larder" && once.include?(name)

            "Work of an unchanged session, #{name} beside Larder: #{said(ratios.cell(name))}."
          end
        end

        def floor
          above = above_floor("larder") if once.include?("larder")
          return unless above

          "Work of an unchanged session, Larder's less that of a Hash, which serves one process only: " \
            "#{Reports::Cells.text(above.to_h, "micros")} µs."
        end

        def noise
          noise = noise_of(OPERATIONS.keys.map { |operation| ratios_of(operation) }) or return
          "Noise: two measurements of #{results.twins.last} lay up to #{Figures.percent(noise)} apart in this part; " \
            "what differs by less is marked ≈."
        end

        def measure(name, operation)
          ratios_of(operation).measure(name, "session work, #{operation}") { |row| "sessions/work/#{operation}/#{row}" }
        end
      end
    end
  end
end
