# frozen_string_literal: true

# Builds the report chapter of `larder-lab scaling`: throughput over threads and over processes, and the share of the
# expected throughput.

require_relative "../loads"
require_relative "report"

module Larder
  module Lab
    module Loads
      # The chapter of `larder-lab scaling`.
      class ScalingReport < Report
        KEY = "scaling"
        TITLE = "More threads, more processes"
        # Titles of what callers do.
        MIXES = { "read" => "hits", "95/5" => "95 hits to 5 writes" }.freeze
        # The slowest and the fastest of several processes apart by more than this are mentioned.
        UNFAIR = 2.0

        # One chart. callers: "threads" or "processes"
        View = Struct.new(:callers, :mix, :counts, keyword_init: true) do
          # @return [String]
          def title
            "#{MIXES.fetch(mix)[0].upcase}#{MIXES.fetch(mix)[1..]}, by #{callers}"
          end
        end

        private

        def lead
          "#{Figures.thousands(Mix::KEYS)} keys that all callers share, read by fetch; a write is every twentieth " \
            "call where there are any. All begin at once. Processes open a store of their own each, on the same file " \
            "or server."
        end

        def own_facts
          ["#{Figures.duration(plan.settings[:seconds])} each", "#{results.environment[:cores]} cores"]
        end

        def views
          @views ||= %w[threads processes].product(plan.settings[:mixes]).filter_map do |callers, mix|
            counts = plan.settings.fetch(callers == "threads" ? :thread_counts : :process_counts)
            View.new(callers: callers, mix: mix, counts: counts)
          end
        end

        def sections
          by_view = views.map { |view| section(view.title, throughput(view), efficiency(view), curves(view)) }
          [*by_view, compared, own_share]
        end

        # Calls per second together, one for each round.
        def samples(name, view, count)
          (@samples ||= {})[[name, view, count]] ||=
            results.of(name, callers: view.callers, mix: view.mix, count: count).map do |block|
              together(view, block["each"])
            end
        end

        # Threads take turns for the lab's own work as for the rest; processes do it beside each other.
        def together(view, each)
          return each.sum { |one| rate(one["calls"], one["seconds"]) } if view.callers == "processes"

          rate(each.sum { |one| one["calls"] }, Statistics.mean(each.map { |one| one["seconds"] }))
        end

        # Without the time that is the lab's own, but never more than twice what was counted.
        def rate(calls, seconds)
          calls / [seconds - (calls * own), seconds / 2].max
        end

        # Seconds of a call that are the lab's: the least that was measured, which nothing disturbed.
        def own
          @own ||= names.flat_map { |name| results.of(name, "own").map { |event| event["seconds"] } }.min
        end

        def ratios_of(view, count)
          (@ratios ||= {})[[view, count]] ||= ratios(names.to_h { |name| [name, samples(name, view, count)] })
        end

        def throughput(view)
          columns = view.counts.map { |count| { title: counted(view, count), format: "number" } }
          rows = names.map { |name| [name, *view.counts.map { |count| ratios_of(view, count).median(name) }] }
          D::Table.build(caption: "Calls per second together, median of the rounds",
                         columns: [{ title: "" }, *columns], rows: rows, notes: alone(view))
        end

        def counted(view, count)
          "#{count} #{count == 1 ? view.callers.delete_suffix("s").sub("processe", "process") : view.callers}"
        end

        def alone(view)
          return [] unless view.callers == "processes"

          own = names.reject { |name| type(name).shared? }
          own.any? ? ["Each process has a store of its own and shares nothing with the others: #{own.join(", ")}."] : []
        end

        def efficiency(view)
          return if (more = view.counts - [1]).size == view.counts.size || more.empty?

          columns = [*more.map { |count| { title: counted(view, count), format: "number" } },
                     { title: "fastest/slowest", format: "number", optional: 1 }]
          rows = names.map do |name|
            [name, *more.map { |count| efficiency_of(name, view, count) }, fairness(name, view)]
          end
          D::Table.build(caption: "Efficiency: throughput as a part of that of one, times the number of callers",
                         columns: [{ title: "" }, *columns], rows: rows)
        end

        # A cell, or nil.
        def efficiency_of(name, view, count)
          many, one = [count, 1].map { |each| samples(name, view, each) }
          return if many.empty? || many.size != one.size || one.any?(&:zero?)

          parts = Statistics.paired_ratios(many, one).map { |gain| gain / count }
          Statistics.estimate(parts).to_h.transform_keys(&:to_s)
        end

        # Of the most callers, the fastest by the slowest; nil if one had no turn at all.
        def fairness(name, view)
          blocks = results.of(name, callers: view.callers, mix: view.mix, count: view.counts.max)
          apart = blocks.map { |block| block["each"].map { |one| one["calls"] / one["seconds"] }.minmax }
          Statistics.median(apart.map { |slowest, fastest| fastest / slowest }) if apart.flatten.all?(&:positive?)
        end

        def curves(view)
          series = names.map do |name|
            points = view.counts.filter_map do |count|
              median = ratios_of(view, count).median(name)
              [count, median["value"]] if median && median["value"].positive?
            end
            { label: name, points: points, highlight: highlight?(name) }
          end
          D::Curves.build(title: view.title, sentence: sentence(view), series: series,
                          x: { title: view.callers, format: "integer" },
                          y: { title: "calls per second", format: "number", scale: "log" })
        end

        def sentence(view)
          most = view.counts.max
          ranked = ratios_of(view, most).ranking.reverse & told
          words = ranked.map { |name| "#{name} #{Figures.significant(ratios_of(view, most).median(name)["value"])}" }
          "#{view.title}: with #{most} of them, calls per second together are #{words.join(", ")}."
        end

        def compared
          rows = names.map do |name|
            [name, *views.map { |view| name == ratios_of(view, view.counts.max).base ? "1" : beside_base(name, view) }]
          end
          columns = views.map do |view|
            { title: "#{counted(view, view.counts.max)}, #{view.mix}", format: "ratio" }
          end
          base = ratios_of(views.first, views.first.counts.max).base
          section("Times the calls per second of #{base}",
                  D::Table.build(columns: [{ title: "" }, *columns], rows: rows))
        end

        def beside_base(name, view)
          ratios_of(view, view.counts.max).cell(name)
        end

        def own_share
          best = shared.map { |name| samples(name, views.first, views.first.counts.min).max }.max
          share = best&.positive? ? ", #{Figures.percent(own * best)} of the fastest store's" : ""
          section("The lab's own share",
                  D::Prose.new(text: "Looping and comparing take #{Figures.duration(own)} a call#{share}. They are " \
                                     "subtracted from the time of every row."))
        end

        def conclusions
          [*views.map { |view| fastest(view) }, *views.map { |view| gain(view) }, noise]
        end

        def fastest(view)
          count = view.counts.max
          ratios = ratios_of(view, count)
          first, second = (ratios.ranking.reverse & shared).first(2)
          return unless second

          cell = ratios.cell(first, second) or return
          place = "#{view.title}, #{count} of them"
          return "#{place}: #{Ratios.no_difference(cell, first, second)}." if cell["same"]

          times = Reports::Cells.text(cell, "ratio")
          "#{place}: #{first} answers most; #{times} times as many calls as #{second}, the next shared store."
        end

        # What Larder, or else the first that is shared, makes of more callers.
        def gain(view)
          name = (%w[larder] & shared).first || shared.first
          cell = efficiency_of(name, view, view.counts.max) if name && view.counts.include?(1) && view.counts.max > 1
          return unless cell

          "#{view.title}: #{name} with #{view.counts.max} does " \
            "#{Figures.significant(cell["value"] * view.counts.max)} times what it does with 1."
        end

        def noise
          noises = views.filter_map { |view| ratios_of(view, view.counts.max).noise }
          return if noises.empty?

          "Noise: two measurements of #{results.twins.last} lay up to #{Figures.percent(noises.max)} apart; " \
            "differences within a step's own noise are not shown as differences (≈)."
        end

        def own_warnings
          [*missed_hits, crowded, *unfair]
        end

        def missed_hits
          missed(names.to_h do |name|
            each = results.of(name).flat_map { |block| block["each"] }
            [name, %w[block_runs calls].map { |part| each.sum { |one| one[part] } }]
          end)
        end

        def crowded
          cores = results.environment[:cores]
          return unless plan.settings[:process_counts].any? { |count| count >= cores }

          "A store with a server shares the #{cores} cores with its callers here; with the server on another machine " \
            "it would have more of them, and a network in between."
        end

        def unfair
          views.select { |view| view.callers == "processes" }.filter_map do |view|
            apart = names.select { |name| (fairness(name, view) || UNFAIR + 1) > UNFAIR }
            "#{view.title}: the fastest process did more than twice what the slowest did: #{apart.join(", ")}." if
              apart.any?
          end
        end

        def measures
          views.flat_map do |view|
            view.counts.flat_map do |count|
              names.map { |name| measure(name, view, count) }
            end
          end
        end

        def measure(name, view, count)
          key = "scaling/#{view.callers}/#{view.mix == "read" ? "read" : "mixed"}/#{count}/#{name}"
          D::Measure.new(key: key, label: "#{name}: #{view.title}, #{count}", unit: "per second",
                         better: "higher", samples: samples(name, view, count), base: Reference::KEY)
        end
      end
    end
  end
end
