# frozen_string_literal: true

# Builds the sections about pages that were requested in process: the published table beside one's own, and every
# store on every page.

require_relative "pages"
require_relative "part"
require_relative "published"

module Larder
  module Lab
    module Sessions
      # Requests to the pages of the recipes application.
      class PagesPart < Part
        # Pages that have a chart: one with a new session, and one with a known one, on which sessions weigh most.
        CHARTED = ["/empty/index", "/rezept/index"].freeze
        CACHES = { off: "query cache off", on: "query cache on" }.freeze
        NOTES = ["there: #{Published::SOURCE}.",
                 "SQL: sql-mariadb, hand-written as it was there. The recipes are in SQLite here, for all stores: " \
                 "the query cache serves sessions alone, and there it served the recipes too."].freeze

        # @return [Array<Document::Section>]
        def sections
          [section("Pages in process, beside the published comparison", ratios_beside, seconds_beside, headline: true),
           *pages.map { |page| of_page(page) }].compact
        end

        # @return [Array<String>]
        def conclusions
          [*CHARTED.map { |path| sql_by_larder(path) }, *CHARTED.map { |path| memcached(path) }, noise].compact
        end

        # @return [Array<Document::Measure>]
        def measures
          pages.flat_map do |page|
            names.filter_map { |name| measure(name, page) }
          end
        end

        # @return [Hash{Array<String>=>Array<Float>}]
        def blocks
          names.product(pages).to_h { |name, page| [[name, page.path], samples(name, page.path)] }
               .reject { |_, samples| samples.empty? }
        end

        # @param path [String]
        # @return [Loads::Ratios] of seconds of a request
        def ratios_of(path)
          (@ratios ||= {})[path] ||= ratios(names.to_h { |name| [name, samples(name, path)] })
        end

        private

        def pages
          Pages::ALL
        end

        def events(name, path)
          results.of(name, part: "pages", page: path)
        end

        # Seconds of a request, for each round.
        def samples(name, path)
          events(name, path).map { |event| event["seconds"] / event["calls"] }
        end

        # As the published table is: how many times as long pages took with SQL sessions as with memcached's; then what
        # the query cache saved, and what was not there then.
        def ratios_beside
          off, on = Published::SQL.values_at(:off, :on)
          by_cache = CACHES.to_h do |cache, words|
            memcached = ->(path) { cell(path, Published::SQL[cache], Published::MEMCACHED) }
            [words, ->(path) { [Published.ratio(path, cache), memcached.call(path)] }]
          end
          [table_beside("SQL/memcached: how many times as long a request takes", by_cache),
           table_beside("SQL without the query cache, beside SQL with it and beside Larder",
                        { "off/on" => ->(path) { [Published.caching(path), cell(path, off, on)] },
                          "off/larder" => ->(path) { [nil, cell(path, off, "larder")] } }, notes: NOTES)]
        end

        # columns: the title of a published and a measured figure, and what answers both for a page.
        def table_beside(caption, columns, format: "ratio", notes: [])
          titles = columns.keys.flat_map do |words|
            [{ title: "there", format: format, group: words, align: "right" },
             { title: "here", format: format, group: words }]
          end
          rows = pages.map { |page| [page.path, *columns.values.flat_map { |cells| cells.call(page.path) }] }
          D::Table.build(caption: caption, columns: [{ title: "" }, *titles], rows: rows, notes: notes)
        end

        def cell(path, name, other)
          ratios_of(path).cell(name, other)
        end

        def seconds_beside
          requests = "Seconds of #{Figures.thousands(Published::REQUESTS)} requests"
          sql = CACHES.to_h { |cache, words| ["SQL, #{words}", both(Published::SQL[cache], cache, 0)] }
          others = { "memcached" => both(Published::MEMCACHED, :off, 1),
                     "larder" => ->(path) { [nil, seconds("larder", path, Published::REQUESTS)] } }
          [sql, others].map { |columns| table_beside(requests, columns, format: "number") }
        end

        def both(name, cache, at)
          ->(path) { [Published::SECONDS.dig(path, cache, at), seconds(name, path, Published::REQUESTS)] }
        end

        # Seconds of so many requests.
        def seconds(name, path, requests)
          events = events(name, path)
          return if events.empty?

          requests * events.sum { |event| event["seconds"] } / events.sum { |event| event["calls"] }
        end

        def of_page(page)
          ratios = ratios_of(page.path)
          return unless ratios.base

          chart = chart(page, ratios) if CHARTED.include?(page.path)
          section("#{page.path}: #{page.note}", table(page, ratios), chart)
        end

        def table(page, ratios)
          requests = events(ratios.base, page.path).sum { |event| event["calls"] }
          sql = Published::SQL.fetch(:off)
          columns = [{ title: "" }, { title: "s for #{Figures.thousands(requests)}", format: "number" },
                     { title: "requests/s", format: "number", optional: 2 }, { title: "ms/request", format: "millis" },
                     { title: "times #{ratios.base}", format: "ratio" },
                     { title: "#{sql}/this", format: "ratio", optional: 1 }]
          rows = ratios.ranking.map do |name|
            all = seconds(name, page.path, requests)
            [name, all, requests / all, ratios.median(name), times(ratios, name),
             name == sql ? "1" : ratios.cell(sql, name)]
          end
          D::Table.build(columns: columns, rows: rows)
        end

        def chart(page, ratios)
          D::Intervals.build(title: "A request to #{page.path}", rows: dots(ratios),
                             x: { title: "ms", format: "millis" },
                             sentence: "A request to #{page.path}, #{page.note}, takes #{range(ratios)}.")
        end

        def sql_by_larder(path)
          cell = cell(path, Published::SQL[:off], "larder") or return

          "#{path} in process, SQL beside Larder: #{said(cell)}."
        end

        def memcached(path)
          cell = cell(path, Published::SQL[:off], Published::MEMCACHED) or return

          "#{path} in process, SQL beside memcached: #{said(cell)}; published was #{Published.ratio(path, :off)}."
        end

        def noise
          noise = noise_of(pages.map { |page| ratios_of(page.path) }) or return
          "Noise: two measurements of #{results.twins.last} lay up to #{Figures.percent(noise)} apart on a page."
        end

        def measure(name, page)
          ratios_of(page.path).measure(name, "#{page.path} in process") { |row| "sessions/pages#{page.path}/#{row}" }
        end
      end
    end
  end
end
