# frozen_string_literal: true

# Builds the report chapter of `larder-lab features`: the published table with the tested one, then other questions.

require_relative "../document"
require_relative "../reports/cells"
require_relative "published"
require_relative "visit"

module Larder
  module Lab
    module Features
      # Tables of answers. Cells are yes and no, a word or a number; the reasons follow.
      class Chapter
        OPEN = ["unknown", "not tested"].freeze
        DIFFERENT = "≠"
        LAYERED = "larder-redis is a layered store: Larder in front of Redis, which other machines use, too."
        FIGURES = [["kept", "integer"], ["of", "integer"], ["first 200", "integer"], ["last 200", "integer"],
                   ["disk", "bytes"], ["tmpfs", "bytes"], ["server", "bytes"], ["own memory", "bytes"]].freeze
        private_constant :FIGURES

        # @param rows [Array<Row>]
        # @param options [Commands::FeaturesOptions]
        # @param environment [Hash]
        def initialize(rows, options, environment)
          @rows = rows
          @options = options
          @environment = environment
          @tested = rows.reject(&:reason)
          @answers = @tested.product(Probes.all).map { |row, probe| [row, probe, row.answer(probe.key)] }
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(
            key: "features", title: "What each store does", conclusions: conclusions, failed: @tested.empty?,
            lead: "Every answer was tested on this machine, with processes, servers and files of its own.",
            facts: ["#{@tested.size} of #{@rows.size} stores", "room of #{Visit::ROOM >> 20} MiB, filled one of " \
                                                               "#{@options.size >> 20} MiB", "seed #{@options.seed}"],
            warnings: warnings, sections: Probes::TABLES.map { |table, title| section(table, title) } + reasons,
            measures: measures, details: details
          )
        end

        private

        def warnings
          @tested.flat_map do |row|
            row.evidence["trouble"].to_a.map { |trouble| "#{row.name}: a process failed: #{trouble}" }
          end
        end

        def section(table, title)
          probes = Probes.all.select { |probe| probe.table == table }
          columns = [{ title: "store" }, *probes.map do |probe|
            { title: probe.title, format: probe.key == "largest" ? "bytes" : "text", align: "left" }
          end]
          columns += FIGURES.map { |figure, format| { title: figure, format: format } } if table == :full
          block = Document::Table.build(
            columns: columns, rows: table == :published ? compared(probes) : @rows.map { |row| cells(row, probes) },
            notes: ["#{probes.map { |probe| "#{probe.title}: #{probe.meaning}" }.join("; ")}.",
                    *("#{DIFFERENT}: not as published. #{Published::REMARK} #{LAYERED}" if table == :published)]
          )
          Document::Section.new(title: title, headline: table == :published, blocks: [block])
        end

        # Each published row follows the stores that it is about, also where none of them took part.
        def compared(probes)
          groups = @rows.group_by { |row| Published.row(row.name) }
          lines = Published::ROWS.keys.flat_map do |key|
            tested = groups.fetch(key, []).map { |row| cells(row, probes) }
            tested = [[key, "not tested: it took no part in this run"]] if tested.empty?
            [*tested, ["#{key} (published)", *probes.map { |probe| Published.answer(key, probe.key) }]]
          end
          lines + groups.fetch(nil, []).map { |row| cells(row, probes) }
        end

        def cells(row, probes)
          return [row.name, "not tested: #{row.reason}"] if row.reason

          answers = probes.map do |probe|
            answer = row.answer(probe.key)
            differs?(row, probe, answer) ? "#{word(answer)} #{DIFFERENT}" : answer
          end
          probes.first.table == :full ? answers.unshift(row.name).concat(figures(row)) : [row.name, *answers]
        end

        def differs?(row, probe, answer)
          published = Published.answer(row.name, probe.key)
          !published.nil? && !OPEN.include?(answer) && answer != published
        end

        def word(answer)
          Reports::Cells.text(answer)
        end

        def figures(row)
          filling = row.evidence["filling"] || {}
          [*filling.values_at("kept", "written", "early", "late"),
           *filling.fetch("growth", {}).values_at("disk", "tmpfs", "server", "own")]
        end

        def reasons
          { "Not as published" => differences,
            "No answer" => chosen { |_, _, answer| OPEN.include?(answer) }.map do |row, probe, answer|
              "#{row.name}, #{probe.title}: #{answer}: #{row.note(probe.key)}."
            end,
            "Why not" => chosen { |_, _, answer| answer == false }
              .group_by { |row, probe, _| [row.name, row.note(probe.key)] }.map do |(name, note), answers|
                "#{name}: #{answers.map { |_, probe, _| probe.title }.join(", ")}: no#{" (#{note})" if note}."
              end }.filter_map do |title, items|
            Document::Section.new(title: title, blocks: [Document::List.new(items: items)]) if items.any?
          end
        end

        def chosen(&)
          @answers.select(&)
        end

        def differences
          chosen { |row, probe, answer| differs?(row, probe, answer) }.map do |row, probe, answer|
            published = Published.answer(row.name, probe.key)
            "#{row.name}, #{probe.title}: published: #{word(published)}; " \
              "here: #{word(answer)} (#{row.note(probe.key)})."
          end
        end

        def conclusions
          [agreement, lasting,
           "Processes of one machine share #{named("cross_process")}; no increment of several at once is lost in " \
           "#{named("atomic_increment")}.",
           "Twice their room written, #{named("evicts")} gave up old values for new ones; more than a quarter above " \
           "the limit took #{named("within_limit", false)}."].compact
        end

        def agreement
          compared = chosen do |row, probe, answer|
            !Published.answer(row.name, probe.key).nil? && !OPEN.include?(answer)
          end
          return if compared.empty?

          "#{differences.size} of #{compared.size} published answers that were tested differ here" \
            "#{": #{differences.join(" ").delete_suffix(".")}" if differences.size.between?(1, 2)}."
        end

        def lasting
          names = %w[app_restart app_killed server_killed].map do |key|
            chosen { |_, probe, answer| probe.key == key && [true, "no server"].include?(answer) }
              .map { |row, _, _| row.name }
          end
          "Values outlive a restart and kill -9 of the application and of the server in #{list(names.inject(:&))}."
        end

        def named(key, wanted = true)
          list(chosen { |_, probe, answer| probe.key == key && answer == wanted }.map { |row, _, _| row.name })
        end

        def list(names)
          names.empty? ? "none" : names.join(", ")
        end

        def measures
          chosen { |_, probe, answer| probe.key == "largest" && answer.is_a?(Integer) }.map do |row, _, answer|
            Document::Measure.new(key: "features/largest/#{row.name}", label: "#{row.name}, largest value",
                                  unit: "bytes", better: "higher", samples: [answer])
          end
        end

        def details
          { environment: @environment, published: Published::ROWS, size: @options.size, seed: @options.seed,
            rows: @rows.map(&:to_h) }
        end
      end
    end
  end
end
