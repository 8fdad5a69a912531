# frozen_string_literal: true

require_relative "../document"
require_relative "answer"
require_relative "axis_tables"
require_relative "figure_tables"
require_relative "findings"
require_relative "published_findings"

module Larder
  module Lab
    # Turns the samples of a suite into a chapter of a report.
    # @api private
    module SuiteReport
      # The chapter of a suite that names it.
      autoload :FeaturesChapter, File.expand_path("features_chapter", __dir__)
      # Builds the chapter of a suite: the answer, a table of the blocks that it answers by, and details of each block.
      class Chapter
        Figures = Reports::Figures
        # Turns of one row that are drawn, at most.
        DOTS = 60
        # Columns of figures of a table that is not folded, at most.
        COLUMNS = 3
        # Load for each core from which on other work is suspected.
        BUSY = 0.7
        MEMORY = "Resident memory of a server and all processes that it has started, what they share counted once; " \
                 "median of sessions and copies."
        private_constant :MEMORY

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
            failed: failed?, failures: failures, details: details, answer: answer
          )
        end

        private

        def failed? = @findings.base.nil? || failures.any?

        def failures
          @conductor.absent.select { |_, absence| absence.state == :invalid }.map do |row, absence|
            "#{row}, #{absence.block || "starting or ending"}: #{absence.reason}"
          end
        end

        def facts
          ["#{sessions} #{sessions == 1 ? "session" : "sessions"} of fresh processes",
           ("turns of #{Figures.duration(@plan.turn_seconds)}" unless @plan.blocks.all?(&:paced)), *settings,
           "seed #{@plan.seed}", *spent].compact
        end

        def sessions = @samples.map(&:session).uniq.size

        def settings
          @plan.suite.declared.reject(&:file).map do |setting|
            value = @plan.suite.settings[setting.name]
            "#{setting.name.to_s.tr("_", " ")} #{value.is_a?(Float) ? Figures.significant(value) : value}"
          end
        end

        # Where the time of this run went.
        def spent
          whole = @conductor.spent.each_value.sum
          return [] unless whole.positive?

          parts = @conductor.spent.map { |kind, seconds| "#{kind} #{Figures.percent(seconds / whole)}" }
          ["#{Figures.duration(whole)}: #{parts.join(", ")}"]
        end

        # Only a suite about applications has one.
        def answer
          return unless @plan.suite.blocks.any? { |block| block.key == Answer::REQUEST }

          Answer.new(@plan, @findings).to_answer
        end

        def conclusions
          return ["Nothing could be measured."] unless @findings.base

          [*([@published.summary, nearest] if @published), *@figures.sentences].compact
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
          load, cores = @environment.values_at(:load_average, :cores)
          "Other work was running when the run began: load #{load} on #{cores} cores." if load && load > BUSY * cores
        end

        def few
          return if sessions >= Bench::Verdict::LEAST_SESSIONS || @samples.empty? || @plan.suite.sessions

          "#{sessions == 1 ? "One session shows" : "#{sessions} sessions show"} no difference: " \
            "#{Bench::Verdict::LEAST_SESSIONS} or more do."
        end

        def sections
          return [*published, axes, absences] unless @findings.base
          return [*@figures.sections, memory, absences, software] if @plan.suite.sessions

          [*@figures.sections, section("Times as long as #{@findings.base}", decisive, headline: true), *published,
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

          [section("Compared with the published findings", @published.comparison, headline: true),
           section("The published tables, with the same figures here", *@published.tables, headline: true),
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
                              notes: ["The row of #{@findings.base} has its times. " \
                                      "#{Bench::Verdict::MARKS[:alike]}: #{Bench::Verdict::EXPLAINED}."])
        end

        def compared?(row) = @plan.suite.registry.fetch(row).compared?

        def compared(row, block) = row == @findings.base ? @findings.time(row, block) : @findings.cell(row, block)

        def block_sections
          @plan.blocks.reject { |block| block.columns.any? }.map do |block|
            about = [block.about, ("#{block.threads} threads" if block.threads > 1)].compact.join("; ")
            prose = Document::Prose.new(text: "#{Figures.begun(about)}.") unless about.empty?
            section(Figures.begun(block.title), prose, table(block), folded: true)
          end
        end

        def table(block)
          columns = ["", { title: "µs/#{block.unit}", format: "micros", plot: "log" },
                     ["times #{@findings.base}", "ratio"],
                     { title: "page faults/#{block.unit}", format: "number" }]
          ranking = @findings.ranking(block)
          missing = (@plan.rows - ranking).map { |row| @findings.missing(row, block) }
          found = ranking.size > 1 ? @findings.clause(ranking.last, ranking.first, block) : "nothing to compare"
          Document::Table.new(columns: columns, rows: ranking.map { |row| cells(row, block) } + missing,
                              notes: ["#{Figures.begun(block.title)}: #{found}."])
        end

        def cells(row, block)
          dots = @samples.of(row, block.key).turns.map(&:seconds).first(DOTS)
          [row, { "value" => @findings.seconds(row, block), "dots" => dots }, @findings.cell(row, block),
           @findings.faults(row, block)&.round(2)]
        end

        def absences
          items = @conductor.absent.keys.map { |row| "#{row}: #{@findings.reason(row)}" }
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
          servers = recorded.filter_map { |facts| facts.dig("server", "version") }.uniq
          section("Rows and software", Document::List.new(items: rows),
                  Document::List.new(items: [gems.join(", "), *servers]), folded: true)
        end

        # For `compare`: figures, and the seconds of a call, one for each session.
        def measures = @figures.measures + (@plan.suite.sessions ? [] : times)

        def times
          @findings.rows.product(@plan.blocks).filter_map do |row, block|
            series = @samples.of(row, block.key)
            next if series.empty?

            Document::Measure.new(key: "#{@plan.suite.key}/#{block.key}/#{row}", label: "#{row}: #{block.title}",
                                  unit: "seconds", better: "lower", samples: series.session_seconds)
          end
        end

        def details
          { environment: @environment, base: @findings.base,
            settings: @plan.to_h.slice(:rows, :sessions, :passes, :turn_seconds, :limit_seconds, :seed),
            absent: @conductor.absent.transform_values(&:to_h), skipped: @conductor.skipped.to_a,
            recorded: @conductor.recorded, spent: @conductor.spent, samples: @samples.map(&:to_h) }
        end
      end
    end
  end
end
