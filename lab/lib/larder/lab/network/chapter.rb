# frozen_string_literal: true

# Builds the report chapter of `larder-lab network`: the parts about stores and codecs, how well the simple model
# holds, what the proxy itself adds, warnings, and the raw samples.

require_relative "../document"
require_relative "../warnings"
require_relative "codecs"
require_relative "model"
require_relative "stores"
require_relative "wording"

module Larder
  module Lab
    module Network
      # Makes the chapter.
      class Chapter
        include Wording

        LEAD = "A proxy before a private server adds a round trip and limits the bandwidth; reads and writes through " \
               "Rails' cache API are measured behind it, and stores that need no network beside them. Values of " \
               "stores are not compressed, so that all send the same."
        MODEL = "the time without a network, and a round trip, and the bits by the bandwidth"
        # Rows of the table of predictions.
        WORST = 12
        # A warning is shown if the proxy adds more seconds than this.
        TOO_SLOW = 0.0003

        # @param results [Results]
        def initialize(results)
          @results = results
          @plan = results.plan
          @model = Model.new(results)
          @parts = [Stores.new(results, @model), Codecs.new(results, @model)]
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(key: "network", title: "Round-trip time and bandwidth", lead: LEAD, facts: facts,
                                conclusions: [*@parts.flat_map(&:conclusions), *model_words].uniq, warnings: warnings,
                                sections: sections, measures: measures, failed: results.failed?, details: details)
        end

        private

        attr_reader :results

        def facts
          ["round trips of #{@plan.rtts.map { |rtt| duration(rtt) }.join(", ")}",
           "bandwidths: #{@plan.bandwidths.map { |limit| bits(limit) }.join(", ")}", "#{@plan.rounds} rounds",
           "blocks of #{duration(@plan.seconds)} and #{@plan.calls} calls or more", "seed #{@plan.seed}"]
        end

        def sections
          [*@parts.flat_map(&:sections), section("Measured beside predicted", predictions),
           section("What the proxy itself adds", floor), section("Not measured", not_measured),
           section("Software", software)].compact
        end

        # The worst first: where the model holds there, it holds.
        def predictions
          checks = @model.checks
          return if checks.empty?

          rows = checks.sort_by { |check| -check.error.abs }.first(WORST).map do |check|
            ["#{check.row.name}, #{check.operation} of #{check.payload}, #{place(check.point)}", check.measured,
             check.predicted, check.error * 100]
          end
          Document::Table.build(columns: [{ title: "" }, { title: "measured", format: "seconds" },
                                          { title: "predicted", format: "seconds" },
                                          { title: "off by, %", format: "number" }],
                                caption: "The #{rows.size} of #{checks.size} predictions that are off by most",
                                rows: rows, notes: ["Predicted: #{MODEL}."])
        end

        def model_words
          errors = @model.checks.map { |check| check.error.abs }
          return [] if errors.empty?

          within = errors.count { |error| error <= 0.1 }.fdiv(errors.size)
          ["The model (#{MODEL}) is off by #{percent(Statistics.median(errors))} in the middle of #{errors.size} " \
           "predictions, by no more than 10 % in #{percent(within)} of them, by #{percent(errors.max)} at worst."]
        end

        # Seconds of a round trip, by what was asked for; nil: straight.
        def floors
          @floors ||= results.floor.group_by(&:rtt).transform_values { |all| all.map(&:seconds) }
        end

        def floor
          straight = floors[nil] or return
          rows = floors.except(nil).map do |rtt, seconds|
            median = Statistics.median(seconds)
            [duration(rtt), median, Statistics.percentile(seconds, 90), median - rtt - Statistics.median(straight)]
          end
          Document::Table.build(columns: [{ title: "round trip asked for", align: "right" },
                                          { title: "measured, median", format: "seconds" },
                                          { title: "nine in ten within", format: "seconds" },
                                          { title: "added beyond it", format: "seconds" }], rows: rows,
                                caption: "100 bytes to a process that sends them back, by way of the proxy",
                                notes: ["Straight, without the proxy, it takes " \
                                        "#{duration(Statistics.median(straight))}. " \
                                        "What the proxy adds at 0 is in every figure of a store behind it."])
        end

        def warnings
          [Lab::Warnings.few(@plan.rounds), slow_proxy].compact
        end

        def slow_proxy
          medians = floors.transform_values { |seconds| Statistics.median(seconds) }
          rtt, most = medians.except(nil).map { |asked, median| [asked, median - asked - medians[nil]] }.max_by(&:last)
          return unless most && most > TOO_SLOW

          "The proxy itself added #{duration(most)} to a round trip of #{duration(rtt)}: the machine is busy, and " \
            "round trips are longer than asked for."
        end

        def not_measured
          rows = results.rejected
          return if rows.empty?

          Document::List.new(items: rows.map do |row|
            error = results.reason(row)
            "#{row.name}: #{"invalid, " if error.is_a?(Invalid)}#{error.message}"
          end)
        end

        def software
          items = results.versions.map { |name, version| version.to_s.include?(" ") ? version : "#{name} #{version}" }
          Document::List.new(items: [items.join(", ")]) if items.any?
        end

        def measures
          places = results.samples.group_by { |each| [each.row, each.payload, each.operation, each.point] }
          places.map do |(row, payload, operation, point), samples|
            Document::Measure.new(key: ["network", payload, operation, point.key, row].join("/"), unit: "seconds",
                                  base: (Reference::KEY unless point.network?), # a wire waits as long on any machine
                                  better: "lower", samples: samples.sort_by(&:round).map(&:seconds),
                                  label: "#{row}: #{operation} of #{payload}, #{place(point)}")
          end
        end

        def details
          { environment: results.environment, plan: @plan.to_h.except(:directory), versions: results.versions,
            floor: results.floor.map(&:to_h), samples: results.samples.map(&:to_h),
            bytes: bytes }
        end

        def bytes
          @plan.rows.flat_map { |row| row.payloads.map { |name| [row.name, name, results.bytes(row, name)] } }
        end
      end
    end
  end
end
