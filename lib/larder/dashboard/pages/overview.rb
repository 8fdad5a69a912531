# frozen_string_literal: true

# The first page: is the cache healthy, does it help, what fills it.

require_relative "../../bytes/doctor"
require_relative "../chart"

module Larder
  class Dashboard
    module Pages
      # The figures of a cache on one page.
      class Overview < Page
        HOUR = 3600
        DAY = 86_400
        # Seconds of the rate of now where there is no earlier reading.
        RECENT = 120
        # Counts that are 0 on a sound machine, and those that only some caches have.
        RARE = { stale_hits: "Reads that an expired value answered", leases: "Computed by one caller for all",
                 waits: "Waited for another caller's value", refreshes: "Computed again while an old value was served",
                 tag_deletes: "Tags deleted", refused: "Stores refused", damaged: "Damaged records",
                 resets: "Shards emptied because of damage" }.freeze
        private_constant :HOUR, :DAY, :RECENT, :RARE

        # @return [String]
        def title
          "Overview"
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          read
          html.div(id: "live", data: { refresh: "5" }) do
            subject(html)
            health(html)
            figures(html)
            @usage ? history(html) : no_history(html)
            size(html)
            totals(html)
          end
        end

        private

        def read
          @now = Time.now
          @stats = cache.stats
          @rates, @seconds = visit.readings.rates(cache.path, @stats)
          statistics = Inspection::Statistics.of(cache.path)
          @usage, @problem = statistics.usage, statistics.problem
          @recent, @hour, @day = [RECENT, HOUR, DAY].map { |seconds| @usage&.last(seconds, now: @now) }
        end

        def subject(html)
          html.p(class: "subject") do
            html.code(Remedy.shown(cache.path))
            html.span(class: "clock") do
              html.text("read at ")
              html.time(@now.strftime("%H:%M:%S %Z"), datetime: @now.getutc.strftime("%FT%TZ"))
            end
          end
        end

        # ---- health ----

        def health(html)
          report = Doctor.run(visit.source.store || cache.path, sessions: ->(_) { visit.source.sessions? }, quick: true)
          return sound(html) if report.sound?

          html.section(class: "card problem", aria: { labelledby: "health" }) do
            html.h2(Words.counted(report.findings.size, "problem"), id: "health")
            html.ul(class: "findings") do
              report.findings.each do |finding|
                html.li do
                  html.p(finding.what.sub(/\A[a-z]/, &:upcase))
                  html.p { html.code(finding.fix, class: "command") }
                end
              end
            end
          end
        end

        def sound(html)
          html.p(class: "sound") do
            html.strong("No problems.")
            html.text(" ")
            html.code(visit.source.command("doctor"))
            html.text(" also checks git, copies and the journal.")
          end
        end

        # ---- figures ----

        def figures(html)
          html.section(class: "figures", aria: { label: "Figures" }) do
            hits(html)
            saved(html)
            full(html)
            traffic(html)
          end
        end

        def figure(html, label, text, lines)
          html.div(class: "card figure") do
            html.h2(label)
            html.p(text, class: "big")
            yield if block_given?
            lines.compact.each { |line| html.p(line, class: "small") }
          end
        end

        def hits(html)
          ratio, when_ = now
          times = [[@hour, "in the last hour"], [@day, "in the last day"]]
          figure(html, "Reads that hit", percent(ratio),
                 [ratio ? when_ : "nothing was read yet", *(times.map do |bucket, time|
                   "#{percent(bucket.whole.hit_ratio)} #{time}" if bucket&.whole&.hit_ratio
                 end)])
        end

        # Rates where this process has an earlier reading.
        def now
          return [@rates.hit_ratio, "in the last #{Words.span(@seconds)}"] if @rates&.hit_ratio
          return [@recent.whole.hit_ratio, "in the last two minutes"] if @recent&.whole&.hit_ratio

          [@stats[:hit_ratio], "since the file was made"]
        end

        def percent(ratio)
          ratio ? Words.percent(ratio) : "–"
        end

        def saved(html)
          return figure(html, "Saved", "–", ["No statistics are kept."]) unless @day

          seconds = @day.saved
          text = seconds < 1 ? "–" : Words.span(seconds)
          figure(html, "Saved", text, ["of computing in the last day",
                                       "hits × the time that a miss takes to compute"])
        end

        def full(html)
          figure(html, "Full", Words.percent(@stats[:fullness]),
                 ["of #{Words.bytes(@stats[:size_bytes])}, #{Words.counted(@stats[:items], "item")}",
                  ("the oldest is #{Brief.span(@stats[:oldest_age])} old" if @stats[:oldest_age])]) do
            bar(html, @stats[:fullness], "Full")
          end
        end

        def traffic(html)
          if @rates
            text, time, amounts = Brief.rate(@rates.reads), "reads a second", [@rates.stores, @rates.evictions]
            lines = ["#{Brief.rate(amounts[0])} stored, #{Brief.rate(amounts[1])} evicted a second"]
          elsif @hour
            counts = @hour.whole
            text, time = Brief.count(counts.reads), "reads in the last hour"
            lines = ["#{Brief.count(counts.stores)} stored, #{Brief.count(counts.evictions)} evicted"]
          else
            text, time = Brief.count(@stats[:hits] + @stats[:misses]), "reads since the file was made"
            lines = ["#{Brief.count(@stats[:sets])} stored, #{Brief.count(@stats[:evictions])} evicted"]
          end
          figure(html, "Traffic", text, [time, *lines, processes, failed])
        end

        def failed
          failures = @day ? @day.whole.failures : 0
          "#{Words.counted(failures, "call")} failed in the last day: the log says why" if failures.positive?
        end

        def processes
          number = @stats[:processes]
          number == 1 ? "one process has it open" : "#{Words.count(number)} processes have it open"
        end

        # ---- history and keyspaces ----

        def history(html)
          html.div(class: "charts") do
            Chart.new("day", "The last day", @usage.hours, Chart::HOUR, @now).write(html)
            Chart.new("hour", "The last hour", @usage.minutes, Chart::MINUTE, @now).write(html)
          end
          keyspaces(html, Inspection::UsedKeyspaces.of(@usage, @hour))
        end

        def no_history(html)
          html.section(class: "card") do
            html.h2("History and keyspaces")
            html.p("There are no statistics by keyspace and time: #{@problem}.", class: "empty")
          end
        end

        def keyspaces(html, used)
          html.section(class: "card", aria: { labelledby: "keyspaces" }) do
            html.h2("Keyspaces", id: "keyspaces")
            html.p("Parts of keys before the first / or :, #{used.time}.", class: "small")
            next html.p("None was used yet.", class: "empty") if used.rows.empty?

            table(html, "Keyspaces #{used.time}", keyspace_columns(used), used.rows)
            if used.sampled?
              html.p("±: the counts are those of a sample; in 19 of 20 cases they are off by no more.", class: "small")
            end
          end
        end

        def keyspace_columns(used)
          [column("Keyspace") { |out, row| keyspace(out, row) },
           column("Share of reads", "number line") { |out, row| share(out, used.share(row.counts), row) },
           column("Hits", :number) { |_, row| percent(row.counts.hit_ratio) },
           column("Misses", :number) { |_, row| Brief.count(row.counts.misses) },
           column("Stored bytes", :number) { |_, row| Brief.bytes(row.counts.stored_bytes) },
           column("Evicted", :number) { |_, row| Brief.count(row.counts.evictions) },
           column("Evicted after", :number) { |_, row| Brief.span(row.counts.mean_evicted_age) || "–" },
           column("Time to compute", "number line") { |_, row| Brief.span(row.counts.mean_compute) || "–" }]
        end

        def keyspace(out, row)
          return row.shown unless row.name

          out.a(row.shown, href: path("keys", keyspace: row.shown))
        end

        def share(out, share, row)
          return "–" unless share

          error = Brief.error(row.counts.reads_error, row.counts.reads)
          bar(out, share, "Share of reads")
          out.span([Words.percent(share), *error].join(" "), class: "amount")
        end

        # ---- the size, and all time ----

        def size(html)
          advice = Inspection::SizeAdvice.new(cache.other_sizes, @stats)
          html.section(class: "card", aria: { labelledby: "size" }) do
            html.h2("Would another size help?", id: "size")
            first, *more = advice.sentences
            html.p(first, class: "answer")
            html.p([*more, *(advice.needed if advice.known?)].join(" "), class: "small")
            sizes(html, advice) if advice.known?
            resize(html, advice.megabytes) if advice.megabytes
          end
        end

        def resize(html, megabytes)
          keep = visit.source.sessions?
          html.p { html.code("#{visit.source.command("resize")} #{megabytes}MB#{" --keep" if keep}", class: "command") }
          html.p(keep ? "The application must be stopped." : "It replaces the cache by an empty one.", class: "small")
        end

        def sizes(html, advice)
          present = advice.figures[:size_bytes]
          table(html, "Hit ratio by size of the file",
                [column("Size", sort: ->(one) { one[:size_bytes] }) do |_, one|
                   [Words.bytes(one[:size_bytes]), *("now" if one[:size_bytes] == present)].join(", ")
                 end,
                 column("Hits", :number) do |out, one|
                   next "too few reads yet" unless one[:hit_ratio]

                   bar(out, one[:hit_ratio], "Hits")
                   out.span(Words.percent(one[:hit_ratio]), class: "amount")
                 end,
                 column("Error", :number) { |_, one| one[:error] ? "± #{[(one[:error] * 100).ceil, 1].max}" : "–" }],
                advice.sizes)
        end

        def totals(html)
          counts = { hits: "Hits", misses: "Misses", sets: "Stored", evictions: "Evicted", expirations: "Expired" }
          rare = RARE.select { |key, _| @stats[key].to_i.positive? }
          html.details(class: "card") do
            html.summary("Since the file was made")
            facts(html, [*counts, *rare].map { |key, label| [label, Words.count(@stats[key])] } +
                        [["Processes", cache.pids.sort.first(20).join(", ")]])
          end
        end
      end
    end
  end
end
