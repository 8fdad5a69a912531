# frozen_string_literal: true

require_relative "../bench/reference_loop"
require_relative "../bench/verdict"
require_relative "../contenders"
require_relative "../document"
require_relative "findings"
require_relative "tables"

module Larder
  module Lab
    # Turns the samples of a suite into a chapter of a report.
    # @api private
    module SuiteReport
      # The chapter of a suite that names it.
      autoload :FeaturesChapter, File.expand_path("features_chapter", __dir__)
      # Builds the chapter of a suite: the answer, a table of the blocks that it answers by, and details of each block.
      class Chapter
        Figures = SuiteReport::Figures # for chapters in other modules
        # Turns of one row that are drawn, at most.
        DOTS = 60
        # Columns of figures of a table that is not folded, at most.
        COLUMNS = 3
        # Load for each core from which on other work is suspected.
        BUSY = 0.7
        MEMORY = "Resident memory of a server and all processes that it has started, what they share counted once; " \
                 "median of sessions and copies."

        # @param conductor [Bench::Conductor, Run] after its run
        # @param environment [Hash{Symbol=>Object}] see {Environment}, from before the run
        # @param base [String, nil] the row that others are compared with; nil: that of the suite, if it was measured
        def initialize(conductor, plan, samples, environment:, base: nil)
          @conductor = conductor
          @plan = plan
          @samples = samples
          @environment = environment
          @findings = Findings.new(plan, samples, conductor, base: base)
          @published = PublishedFindings.new(plan, @findings) if Published.of(plan.suite.key)
          @axes = AxisTables.new(plan, @findings)
          @figures = FigureTables.new(plan, @findings)
        end

        def to_chapter
          Document::Chapter.new(
            key: @plan.suite.key, title: @plan.suite.title, lead: @plan.suite.question, facts: facts,
            conclusions: conclusions, warnings: warnings, sections: sections.compact, measures: measures,
            failed: failed?, details: details, answer: answer
          )
        end

        private

        def failed? = @findings.base.nil? || @conductor.absent.each_value.any? { |absence| absence.state == :invalid }

        def facts
          seconds = @conductor.spent.each_value.sum
          ["#{sessions} #{sessions == 1 ? "session" : "sessions"} of fresh processes",
           ("turns of #{Figures.duration(@plan.turn_seconds)}" unless @plan.blocks.all?(&:paced)), *settings,
           "seed #{@plan.seed}", ("#{Figures.span(seconds)} in all" if seconds.positive?)].compact
        end

        def sessions = @samples.map(&:session).uniq.size

        def settings
          @plan.suite.declared.reject(&:file).map do |setting|
            "#{setting.option} #{@plan.suite.settings[setting.name]}"
          end
        end

        # Only a suite about applications has one.
        def answer
          return unless @plan.suite.blocks.any? { |block| block.key == Answer::REQUEST }

          Answer.new(@plan, @findings).to_answer
        end

        def conclusions
          return ["Nothing could be measured."] unless @findings.base

          sentences = @figures.sentences
          [@published&.summary, (nearest unless answer || sentences.any?), *sentences].compact
        end

        # The fastest of the other rows, in the first block that the suite answers by.
        def nearest
          block = decisive_blocks.first
          other = @findings.ranking(block).find { |row| row != @findings.base && compared?(row) }
          return unless other && @findings.ratio(other, block)

          "#{Figures.begun(block.title)}: #{@findings.clause(other, @findings.base, block)}."
        end

        def warnings = [busy, few, *@figures.warnings].compact

        def busy
          busy, cores = @environment.values_at(:busy_processors, :cores)
          return unless busy && busy > BUSY * cores

          "Other work was running when the run began: it kept #{busy} of #{cores} processors busy."
        end

        def few
          return if sessions >= Bench::Verdict::LEAST_SESSIONS || @samples.empty? || @plan.suite.sessions

          "#{sessions == 1 ? "One session shows" : "#{sessions} sessions show"} no difference: " \
            "#{Bench::Verdict::LEAST_SESSIONS} or more can."
        end

        def sections
          return [*published, axes, absences] unless @findings.base
          return [*@figures.sections, memory, absences, software] if @plan.suite.sessions

          [*@figures.sections, (section("Times as long as #{@findings.base}", decisive) unless few), *published,
           axes, absences, *(block_sections unless @axes.together?), memory, software]
        end

        def axes
          section("Times and sizes", *@axes.tables, Wire.new(@plan, @findings).table)
        end

        # Nil without contents.
        def section(title, *blocks, **how)
          Document::Section.new(title: title, blocks: blocks, **how) if blocks.any?
        end

        def published
          return [] unless @published

          [section("Compared with the published findings", @published.comparison),
           section("The published tables, with the same figures here", *@published.tables),
           section("In seconds, as they were published", @published.totals, folded: true)]
        end

        # The blocks that the suite answers by; all others are folded.
        def decisive_blocks
          answers = @plan.blocks.select { |block| @plan.suite.answers.include?(block.key) }
          answers.any? ? answers : @plan.blocks.first(COLUMNS)
        end

        def decisive
          blocks = decisive_blocks
          rows = (@findings.ranking(blocks.first) | @findings.rows).select { |row| compared?(row) }
          Document::Table.new(columns: ["", *blocks.map { |block| [block.title, "ratio"] }],
                              rows: rows.map { |row| [row, *blocks.map { |block| compared(row, block) }] },
                              notes: ["The row of #{@findings.base} has its times; a ratio has its interval of " \
                                      "#{Figures.percent(Bench::Stats::CONFIDENCE)}. " \
                                      "#{Bench::Verdict::MARKS[:alike]}: #{Bench::Verdict::EXPLAINED}."])
        end

        def compared?(row) = @plan.suite.registry.fetch(row).compared?

        def compared(row, block) = row == @findings.base ? @findings.time(row, block) : @findings.cell(row, block)

        def block_sections
          @plan.blocks.reject { |block| block.columns.any? }.map do |block|
            prose = Document::Prose.new(text: "#{Figures.begun(block.about)}.") if block.about
            section(Figures.begun(block.title), prose, table(block), folded: true)
          end
        end

        def table(block)
          columns = ["", { title: "µs/#{block.unit}", format: "micros", plot: "log" },
                     ["times #{@findings.base}", "ratio"],
                     { title: "page faults/#{block.unit}", format: "number" }]
          ranking = @findings.ranking(block)
          missing = (@plan.rows - ranking).map { |row| @findings.missing(row, block) }
          Document::Table.new(columns: columns, rows: ranking.map { |row| cells(row, block) } + missing)
        end

        def cells(row, block)
          dots = @samples.of(row, block.key).turns.map(&:seconds).first(DOTS)
          [row, { "value" => @findings.seconds(row, block), "dots" => dots }, @findings.cell(row, block),
           @findings.faults(row, block)&.round(2)]
        end

        def absences
          items = @conductor.absent.map do |row, absence|
            place = " (#{absence.block || "starting or ending"})" if absence.state == :invalid
            "#{row}: #{@findings.reason(row)}#{place}"
          end
          items += @conductor.skipped.group_by { |(row, _), reason| [row, reason] }.map do |(row, reason), skipped|
            "#{row}: #{skipped.map { |(_, block), _| @plan.suite.fetch(block).title }.join("; ")}: #{reason}"
          end
          section("Not measured", Document::List.new(items: items)) if items.any?
        end

        # Servers that the lab has started.
        def memory
          weighed = @conductor.recorded.transform_values { |facts| facts["memory"].to_h }.select { |_, at| at["after"] }
          rows = weighed.map do |row, at|
            growth = at["after"].zip(at["before"]).map { |after, before| after - before }
            [row, *[at["before"], at["after"], growth].map { |bytes| bytes.sort[(bytes.size - 1) / 2] }]
          end
          table = Document::Table.new(columns: ["", *%w[before after growth].product(["bytes"])], notes: [MEMORY],
                                      rows: rows.sort_by { |row| row[2] })
          section("Memory of servers", table, folded: true) if rows.any?
        end

        # The names of rows are those of options.
        def software
          rows = @findings.rows.map { |row| "#{row}: #{@plan.suite.registry.fetch(row).title}" }
          recorded = @conductor.recorded.values
          versions = recorded.map { |facts| facts["versions"] }
          gems = versions.flat_map(&:keys).uniq.map do |name|
            "#{name} #{versions.filter_map { |all| all[name] }.uniq.join(" and ")}"
          end
          servers = recorded.filter_map { |all| all.dig("server", "version") || all.dig("options", "server") }.uniq
          section("Rows and software", Document::List.new(items: rows),
                  Document::List.new(items: [gems.join(", "), *servers]), folded: true)
        end

        # For `compare`: figures, and the seconds of a call, one for each session.
        def measures = @figures.measures + (@plan.suite.sessions ? [] : times)

        def times
          @findings.rows.product(@plan.blocks).filter_map do |row, block|
            series, laps = [row, Bench::ReferenceLoop::KEY].map { |each| @samples.of(each, block.key) }
            next if series.empty?

            relative = Bench::Stats.session_values(series, laps).map { |logarithm| Math.exp(logarithm) }
            Document::Measure.new(key: "#{@plan.suite.key}/#{block.key}/#{row}", label: "#{row}: #{block.title}",
                                  unit: "seconds", better: "lower", samples: series.session_seconds,
                                  by_session: relative.any? ? relative : series.session_seconds)
          end
        end

        def details
          { environment: @environment, base: @findings.base,
            settings: @plan.to_h.slice(:rows, :sessions, :passes, :turn_seconds, :limit_seconds, :seed),
            absent: @conductor.absent.transform_values(&:to_h), skipped: @conductor.skipped.to_a,
            recorded: @conductor.recorded, spent: @conductor.spent, samples: @samples.map(&:to_h) }
        end
      end

      # Answers a reader who reads no further, for a suite of applications: one sentence for each kind of application,
      # and a chart of the share of a request that each store takes. A share is the time of a page's reads, measured by
      # themselves, as a part of the time of that page.
      class Answer
        # The row of several servers: each has its own file, and all share one Redis.
        LEVELS = "larder-redis"
        # The block of a whole request, the block of one read in it, and how many such reads it makes.
        REQUEST = "page"
        READ = "fragment"
        READS = 10

        def initialize(plan, findings)
          @findings = findings
          @absent = plan.rows.select { |row| findings.reason(row) }
          @request, @read, *answers = [REQUEST, READ, *plan.suite.answers].map do |key|
            plan.blocks.find { |block| block.key == key }
          end
          @block = [*answers, *plan.blocks].compact.find { |block| findings.ranking(block).any? }
        end

        def to_answer
          sentences = { "One server" => one_server, "Several servers" => several_servers }
          Document::Answer.new(chart: chart, sentences: sentences.map do |about, (text, verdict)|
            { "about" => about, "text" => text, "verdict" => verdict&.to_s }
          end)
        end

        private

        # @return [Array(String, Symbol), String] with a verdict if there is one
        def one_server
          return "Nothing could be measured." unless @findings.base

          compared(@findings.base, "store that all processes share", &:shared?)
        end

        def several_servers
          unless @findings.rows.include?(LEVELS)
            why = @findings.reason(LEVELS) || "`larder-lab applications --only larder-redis,redis` measures it"
            return "Larder in front of a shared store was not measured: #{why}."
          end

          compared(LEVELS, "shared server", " The server was on this machine, without a network.", &:server)
        end

        def compared(row, kind, more = "", &candidate)
          return "#{subject} was not measured with #{@findings.name(row)}." unless @findings.seconds(row, @block)

          begun = "#{subject} takes #{@findings.time(row, @block)} with #{@findings.name(row)}."
          other = rivals(row).find { |each| candidate.call(Contenders.fetch(each)) }
          return "#{begun} No other #{kind} was measured." unless other

          found = "The next #{kind}: #{@findings.clause(other, row, @block)}."
          ["#{begun} #{found}#{shares(row, other)}#{more}",
           Bench::Verdict.for_an_application(@findings.ratio(other, @block, row))]
        end

        # Stores of another kind, the fastest first. "larder-redis" is a larder.
        def rivals(row)
          @findings.ranking(@block).select { |each| each.split("-").first != row.split("-").first && keeps?(each) }
        end

        # "A page of ten fragments".
        def subject
          words = @block.key == "cold" ? "#{@block.unit} (#{@block.title})" : @block.title
          "#{words.match?(/\A[aeiou]/) ? "An" : "A"} #{words}"
        end

        def keeps?(row) = Contenders.fetch(row).keeps_values?

        def shares(row, other)
          own, others = [row, other].map { |each| share(each) } if @block == @request
          " The cache takes #{own} of that request; with #{@findings.name(other)} #{others}." if own && others
        end

        # @return [String, nil] "9.4 %", or nil if it was not measured or this machine was too busy
        def share(row)
          estimate = part(row)
          Figures.percent(whole(estimate.value)) if Bench::Verdict.known?(estimate)
        end

        # @return [Bench::Stats::Estimate, nil] of one read; nil where a part of it was not measured
        def part(row) = @request && @read && @findings.ratio(row, @read, row, @request)

        def whole(part) = [part * READS, 1.0].min

        # Nil unless a share is known.
        def chart
          rows = @request ? @findings.ranking(@request).select { |row| keeps?(row) && part(row) } : []
          return if rows.none? { |row| share(row) }

          missing = "Not measured: #{@absent.map { |row| @findings.name(row) }.join(", ")}." if @absent.any?
          Document::Table.new(
            caption: "A page of #{READS} cached fragments of 2 KB: the cache's share of a request",
            columns: ["", { title: "share of the request", format: "percent", plot: "linear" }, ["request", "seconds"]],
            rows: rows.map { |row| cells(row) }, notes: [*without, *missing]
          )
        end

        # The same page without a cache.
        def without
          row = @findings.ranking(@request).find { |each| !keeps?(each) } or return
          "Without a cache the page takes #{@findings.time(row, @request)}."
        end

        def cells(row)
          estimate, label = part(row), @findings.name(row)
          return [label, Bench::Verdict::MARKS.fetch(:unknown)] unless Bench::Verdict.known?(estimate)

          shares = %i[value low high].to_h { |name| [name.to_s, whole(estimate.public_send(name))] }
          [label, shares, @findings.seconds(row, @request)]
        end
      end
    end
  end
end
