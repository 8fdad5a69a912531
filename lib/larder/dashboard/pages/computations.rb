# frozen_string_literal: true

# The page of computations: which values are being computed, who waits for them, and which take long.

module Larder
  class Dashboard
    module Pages
      # Single flight (docs/guides/stampedes.md) and stale answers (docs/guides/stale-values.md).
      class Computations < Page
        # Seconds that the walk through the leases may take, and rows that are shown.
        PATIENCE = 0.5
        MOST_LEASES = 50
        MOST_KEYSPACES = 20
        TIMES = { "hour" => ["the last hour", 3600], "day" => ["the last day", 86_400] }.freeze
        # Counts of Cache#stats: the label, and what one of them means.
        COUNTS = {
          leases: ["Computed for all", "values that one caller computed, while others waited or got an old value"],
          waits: ["Waits", "calls that waited for the value of another caller"],
          stale_hits: ["Stale answers", "reads that a value answered whose time was over"],
          refreshes: ["Refreshes", "values that were computed again while an old one was served"],
          lone_computes: ["Computed alone", "values that a caller computed for itself, as it could not wait longer"],
          lost_leases: ["Lost leases", "values that were not stored: their key was changed, or they took too long"]
        }.freeze
        EXAMPLE = "Rails.cache.fetch(key, expires_in: 5.minutes, single_flight: true, stale_while_revalidate: 1.minute)"
        Row = Struct.new(:name, :counts) do
          # @return [String]
          def shown
            name ? KeyText.shown(name) : "(others)"
          end

          # @return [Float] seconds
          def computing
            counts.compute_us / 1e6
          end
        end
        private_constant :PATIENCE, :MOST_LEASES, :MOST_KEYSPACES, :TIMES, :COUNTS, :EXAMPLE, :Row

        # @return [String]
        def title
          "Computations"
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          now(html)
          keyspaces(html)
          totals(html)
        end

        private

        # ---- now ----

        def now(html)
          @leases = []
          whole = cache.each_lease(seconds: PATIENCE) { |lease| @leases << lease }
          html.section(class: "card", aria: { labelledby: "now" }) do
            html.h2("Being computed now", id: "now")
            html.p("Values under a lease, those of single_flight: and of stale serving. Other misses are not listed.",
                   class: "small")
            @leases.empty? ? html.p("None.", class: "empty") : leases(html)
            html.p("The cache has many keys: only a part of them was looked at.", class: "small") unless whole
          end
        end

        def leases(html)
          longest = @leases.uniq(&:key).sort_by { |lease| [-lease.age, lease.key] }
          table(html, "Values that are being computed", lease_columns, longest.first(MOST_LEASES))
          return if longest.size <= MOST_LEASES

          html.p("#{Words.counted(longest.size - MOST_LEASES, "other")} began later.", class: "small")
        end

        def lease_columns
          [column("Key") { |out, lease| key(out, lease.key) },
           column("Since", :number) { |_, lease| Brief.span(lease.age) },
           column("Lease ends in", :number) { |_, lease| Brief.span(lease.left) },
           column("Process", :number) { |_, lease| lease.pid.to_s },
           column("Meanwhile") { |_, lease| lease.stale_value ? "the old value may be served" : "callers wait" }]
        end

        def key(out, key)
          shown = KeyText.shown(key)
          return shown unless Pages.at("entry")

          out.a(shown, href: path("entry", **KeyAddress.params(key)))
        end

        # ---- keyspaces ----

        def keyspaces(html)
          statistics = Inspection::Statistics.of(cache.path)
          html.section(class: "card", aria: { labelledby: "keyspaces" }) do
            html.h2("Where computing takes time", id: "keyspaces")
            statistics.usage ? used(html, statistics.usage) : no_statistics(html, statistics.problem)
          end
        end

        def no_statistics(html, problem)
          html.p("There are no statistics by keyspace and time: #{problem}.", class: "empty")
        end

        def used(html, usage)
          name = TIMES.key?(visit.param("time")) ? visit.param("time") : "hour"
          text, seconds = TIMES.fetch(name)
          bucket = usage.last(seconds)
          links = TIMES.to_h { |time, (label, _)| [label.capitalize, path("computations", time: time)] }
          choices(html, "Time", links, text.capitalize)
          summary(html, text, bucket)
          rows = rows_of(bucket)
          return html.p("No value was computed in #{text}.", class: "empty") if rows.empty?

          table(html, "Keyspaces in #{text}, by the time of computing", keyspace_columns(bucket), rows)
          html.p("Computing: from a miss until the same process stored the key. Saved: hits × the mean of that time.",
                 class: "small")
        end

        def summary(html, text, bucket)
          counts = bucket.whole
          facts(html, [["Misses in #{text}", Words.count(counts.misses)],
                       ["Stale answers", Words.count(counts.stale_hits)],
                       ["Waits", Words.count(counts.waits)],
                       ["Mean time to compute", Brief.span(counts.mean_compute) || "–"],
                       ["Saved by hits", Brief.span(bucket.saved)]])
        end

        def rows_of(bucket)
          rows = bucket.keyspaces.map { |name, counts| Row.new(name, counts) } << Row.new(nil, bucket.rest)
          used = rows.select { |row| [row.counts.computes, row.counts.waits, row.counts.stale_hits].any?(&:positive?) }
          used.sort_by { |row| [-row.computing, row.shown] }.first(MOST_KEYSPACES)
        end

        def keyspace_columns(bucket)
          all = rows_of(bucket).sum(&:computing)
          [column("Keyspace") { |_, row| row.shown },
           column("Share of computing", "number line") { |out, row| share(out, row.computing, all) },
           column("Mean", :number) { |_, row| Brief.span(row.counts.mean_compute) || "–" },
           column("Computed", :number) { |_, row| Brief.count(row.counts.computes) },
           column("Waits", :number) { |_, row| Brief.count(row.counts.waits) },
           column("Stale answers", :number) { |_, row| Brief.count(row.counts.stale_hits) },
           column("Saved", :number) { |_, row| row.counts.hits.positive? ? Brief.span(row.counts.saved) : "–" }]
        end

        def share(out, part, all)
          return "–" unless all.positive?

          bar(out, part / all, "Share of computing")
          out.span(Words.percent(part / all), class: "amount")
        end

        # ---- all time ----

        def totals(html)
          stats = cache.stats
          html.section(class: "card", aria: { labelledby: "totals" }) do
            html.h2("Since the file was made", id: "totals")
            next unused(html) if COUNTS.each_key.all? { |count| stats.fetch(count).zero? }

            table(html, "Counts since the file was made",
                  [column("Count") { |_, (_, (label, _))| label },
                   column("Number", :number) { |_, (count, _)| Words.count(stats.fetch(count)) },
                   column("Meaning") { |_, (_, (_, text))| text }], COUNTS.to_a)
          end
        end

        def unused(html)
          html.p("No call has computed a value for others, or was answered by a stale one. These options prevent " \
                 "that many callers compute a value at once, or wait for it:", class: "empty")
          html.p { html.code(EXAMPLE, class: "command") }
        end
      end
    end
  end
end
