# frozen_string_literal: true

# Builds the sections about pages that were requested through Puma.

require_relative "../histogram"
require_relative "pages"
require_relative "part"

module Larder
  module Lab
    module Sessions
      # Requests over HTTP on loopback.
      class PumaPart < Part
        # Shown in tables.
        SHARES = [0.5, 0.9, 0.99, 0.999].freeze
        # Points of a curve.
        POINTS = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.993, 0.995, 0.998, 0.999].freeze

        # @return [Array<Document::Section>]
        def sections
          pages.map { |page| section("#{page.path} by way of Puma: #{page.note}", table(page), curves(page)) }.compact
        end

        # @return [Array<String>]
        def conclusions
          pages.filter_map { |page| beside(page) }
        end

        # @return [Array<Document::Measure>]
        def measures
          pages.flat_map { |page| names.flat_map { |name| measures_of(name, page) } }
        end

        # @return [Hash{Array<String>=>Array<Float>}]
        def blocks
          names.product(pages).to_h { |name, page| [[name, "#{page.path} by way of Puma"], rates(name, page)] }
               .reject { |_, samples| samples.empty? }
        end

        # @return [String, nil] a warning
        def warning
          events = names.flat_map { |name| pages.flat_map { |page| events(name, page) } }
          broken, calls = %w[broken calls].map { |field| events.sum { |event| event[field] } }
          return if broken.zero?

          "Puma broke #{broken} of #{Figures.thousands(calls + broken)} answers, which were asked for again: since " \
            "its version 6.1 a thread that has handed a connection on may empty what the next one answers there."
        end

        private

        def pages
          Pages::ALL.select { |page| Pages::SERVED.include?(page.path) }
        end

        def events(name, page)
          results.of(name, part: "puma", page: page.path)
        end

        # Requests a second, for each round.
        def rates(name, page)
          events(name, page).map { |event| event["calls"] / event["seconds"] }
        end

        def ratios_of(page)
          (@ratios ||= {})[page] ||= ratios(names.to_h { |name| [name, rates(name, page)] })
        end

        # Of all rounds.
        def merged(name, page)
          (@merged ||= {})[[name, page]] ||=
            Histogram.merge(events(name, page).map { |event| Histogram.from_h(event["histogram"]) })
        end

        def ranked(page)
          ratios_of(page).ranking.reverse
        end

        def table(page)
          ratios = ratios_of(page)
          return unless ratios.base

          columns = [{ title: "" }, { title: "requests/s", format: "number" },
                     { title: "times #{ratios.base}", format: "ratio" },
                     *SHARES.map { |share| { title: "#{label(share)} ms", format: "millis" } },
                     { title: "max ms", format: "millis", optional: 1 }]
          rows = ranked(page).map do |name|
            histogram = merged(name, page)
            [name, ratios.median(name), times(ratios, name), *SHARES.map { |share| histogram.percentile(share) },
             histogram.max * Histogram::SECONDS]
          end
          D::Table.build(columns: columns, rows: rows, notes: [connections, *too_few(page)])
        end

        def connections
          "#{plan.settings[:connections]} connections that are kept open, each with its next request as soon as the " \
            "last was answered. Puma and who asks share the #{results.environment[:cores]} cores."
        end

        def too_few(page)
          short = SHARES.reject { |share| ranked(page).all? { |name| merged(name, page).enough?(share) } }
          return [] if short.empty?

          needed = short.map { |share| "#{label(share)} needs #{Figures.thousands(Histogram.needed(share))}" }
          ["–: too few requests; #{needed.join(", ")} (--served)."]
        end

        def label(share)
          Reports::Cells.text(share, "percentile")
        end

        def curves(page)
          series = ranked(page).filter_map do |name|
            histogram = merged(name, page)
            points = POINTS.select { |share| histogram.enough?(share) }
                           .map { |share| [share, histogram.percentile(share)] }
            { label: name, points: points, highlight: name == "larder" } if points.any?
          end
          return if series.empty?

          D::Curves.build(title: "Latency of #{page.path} by way of Puma", sentence: sentence(page), series: series,
                          x: { title: "percentile", scale: "percentile", format: "percentile" },
                          y: { title: "ms", scale: "log", format: "millis" })
        end

        def sentence(page)
          words = (ranked(page) & once).filter_map do |name|
            half, most = [0.5, 0.99].map { |share| merged(name, page).percentile(share) }
            "#{name} #{Figures.duration(half)}#{" and #{Figures.duration(most)}" if most}" if half
          end
          "Median and p99 of a request to #{page.path}: #{words.join("; ")}."
        end

        def beside(page)
          ratios = ratios_of(page)
          others = %w[sql-mariadb memcached] & once
          return unless ratios.base == "larder" && others.any?

          words = others.map { |name| "beside #{name} #{said(ratios.cell("larder", name))}" }
          "#{page.path} by way of Puma, Larder's requests a second: #{words.join("; ")}."
        end

        def measures_of(name, page)
          return [] if events(name, page).empty?

          samples = { "rate" => [rates(name, page), "per second", "higher"],
                      "p50" => [medians(name, page), "seconds", "lower"] }
          samples.filter_map do |what, (values, unit, better)|
            next if values.any?(&:nil?)

            D::Measure.new(key: "sessions/puma#{page.path}/#{what}/#{name}", unit: unit, better: better,
                           samples: values, base: Reference::KEY,
                           label: "#{name}: #{page.path} by way of Puma, #{what}")
          end
        end

        def medians(name, page)
          events(name, page).map { |event| Histogram.from_h(event["histogram"]).percentile(0.5) }
        end
      end
    end
  end
end
