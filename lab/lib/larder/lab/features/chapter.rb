# frozen_string_literal: true

# Builds the report chapter of `larder-lab features`: the published table with the tested one, then other questions.

require_relative "../document"
require_relative "../reports/cells"
require_relative "visit"

module Larder
  module Lab
    module Features
      # Tables of answers. Cells are yes and no, a word or a number; the reasons follow.
      class Chapter
        OPEN = ["unknown", "not tested"].freeze
        DIFFERENT = "≠"
        NOTES = { published: ["#{DIFFERENT}: not as published. larder-redis is a layered store: Larder in front of " \
                              "Redis, which other machines use, too.", *Published.of("features").remarks] }.freeze

        # @param rows [Array<Row>]
        # @param seed [Integer]
        # @param environment [Hash{Symbol=>Object}] see {Environment}
        def initialize(rows, seed, environment)
          @rows = rows
          @seed = seed
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
                                                               "#{Visit::FULL >> 20} MiB", "seed #{@seed}"],
            warnings: @tested.flat_map { |row| row.trouble.map { |each| "#{row.name}: a process failed: #{each}" } },
            sections: Probes::TABLES.map { |table, title| section(table, title) } + reasons,
            details: { environment: @environment, published: Probes.published, size: Visit::FULL, seed: @seed,
                       rows: @rows.map(&:to_h) }
          )
        end

        private

        def section(table, title)
          probes = Probes.all.select { |probe| probe.table == table }
          columns = probes.map { |probe| { title: probe.title, format: probe.format, align: "left" } }
          columns += [{ title: "left" }, { title: "growth" }] if table == :full
          block = Document::Table.build(
            columns: [{ title: "store" }, *columns],
            rows: table == :published ? compared(probes) : @rows.map { |row| cells(row, probes) },
            notes: ["#{probes.map { |probe| "#{probe.title}: #{probe.meaning}" }.join("; ")}.", *NOTES[table]]
          )
          Document::Section.new(title: title, headline: table == :published, blocks: [block])
        end

        # Each published row follows the stores that it is about, also where none of them took part.
        def compared(probes)
          groups = @rows.group_by { |row| Probes.published_row(row.name) }
          lines = Probes.published.flat_map do |key, answers|
            tested = groups.fetch(key, []).map { |row| cells(row, probes) }
            tested = [[key, "not tested: it took no part in this run"]] if tested.empty?
            [*tested, ["#{answers["title"]} (published)", *answers.values_at(*probes.map(&:title))]]
          end
          lines + groups.fetch(nil, []).map { |row| cells(row, probes) }
        end

        def cells(row, probes)
          return [row.name, "not tested: #{row.reason}"] if row.reason

          [row.name, *probes.map do |probe|
            answer = row.answer(probe.key)
            differs?(row, probe, answer) ? "#{word(answer)} #{DIFFERENT}" : answer
          end, *(%w[evicts limited_by].map { |key| row.note(key) } if probes.first.table == :full)]
        end

        # The published answer; nil: none.
        def there(row, probe) = Probes.published.dig(Probes.published_row(row.name), probe.title)

        def compared?(row, probe, answer) = !there(row, probe).nil? && !OPEN.include?(answer)

        def differs?(row, probe, answer) = compared?(row, probe, answer) && answer != there(row, probe)

        def word(answer) = Reports::Cells.text(answer)

        def reasons
          { "Not as published" => differences, "No answer" => no_answers, "Why not" => denials }
            .reject { |_, items| items.empty? }
            .map do |title, items|
              blocks = [Document::List.new(items: items)]
              Document::Section.new(title: title, folded: title == "Why not", blocks: blocks)
            end
        end

        def differences
          @answers.select { |each| differs?(*each) }.map do |row, probe, answer|
            "#{row.name}, #{probe.title}: published: #{word(there(row, probe))}; " \
              "here: #{word(answer)} (#{row.note(probe.key)})."
          end
        end

        def no_answers
          @answers.select { |*, answer| OPEN.include?(answer) }
                  .map { |row, probe, answer| "#{row.name}, #{probe.title}: #{answer}: #{row.note(probe.key)}." }
        end

        def denials
          denied = @answers.select { |*, answer| answer == false }.group_by { |row, probe| [row, row.note(probe.key)] }
          denied.map do |(row, note), answers|
            "#{row.name}: #{answers.map { |_, probe| probe.title }.join(", ")}: no#{" (#{note})" if note}."
          end
        end

        def conclusions
          both = @answers.count { |each| compared?(*each) }
          lasting = %w[app_restart app_killed server_killed].map { |key| named(key, true, "no server") }.inject(:&)
          [("#{differences.size} of #{both} published answers that were tested differ here." if both.positive?),
           "Values outlive a restart and kill -9 of the application and of the server in #{list(lasting)}.",
           "Processes of one machine share #{list(named("cross_process", true))}; no increment of several at once is " \
           "lost in #{list(named("atomic_increment", true))}."].compact
        end

        def named(key, *wanted)
          @tested.select { |row| wanted.include?(row.answer(key)) }.map(&:name)
        end

        def list(names) = names.empty? ? "none" : names.join(", ")
      end
    end
  end
end
