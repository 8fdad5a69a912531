# frozen_string_literal: true

require_relative "chapter"

module Larder
  module Lab
    module SuiteReport
      # The chapter about what stores can do: the published table with the tested one, and the reasons of answers.
      class FeaturesChapter < Chapter
        DIFFERENT = "≠"
        NOTE = "#{DIFFERENT}: not as published. larder-redis is a layered store: Larder in front of Redis, which " \
               "other machines use, too.".freeze
        OPEN = [Suites::Features::UNKNOWN, Suites::Features::UNTRIED].freeze
        YES = [true, "no server"].freeze

        # An answer of a row to a question, which is the title of its column, with what was seen; and the published one.
        Answer = Struct.new(:row, :title, :answer, :note, :there) do
          # @return [Boolean] whether both were given
          def compared? = !there.nil? && !OPEN.include?(answer)

          def differs? = compared? && answer != there

          def said
            word = Figures.text(answer)
            differs? ? "published: #{Figures.text(there)}; here: #{word}" : word
          end
        end

        private

        def conclusions
          return super unless @findings.base

          differing, all = answers.select(&:compared?).then { |both| [both.count(&:differs?), both.size] }
          [("#{differing} of #{all} published answers that were tested differ here." if all.positive?),
           named("Values outlive a restart and kill -9 of the application and of the server in", "app restart",
                 "app kill -9", "server kill -9"),
           named("Processes of one machine share", "cross process"),
           named("No increment of several processes at once is lost in", "increment")].compact
        end

        # The rows with yes to all of these questions; nil if one was not asked.
        def named(words, *titles)
          found = titles.map { |title| answers.select { |each| each.title == title } }
          return if found.any?(&:empty?)

          rows = found.map { |some| some.select { |each| YES.include?(each.answer) }.map(&:row) }.inject(:&)
          "#{words} #{rows.empty? ? "none" : rows.join(", ")}."
        end

        def sections
          first, *others = @figures.sections
          first.blocks[-1] = compared(first.blocks.last) if @plan.blocks.first.key == "published"
          [first, *others, *reasons, absences, (software if @findings.base)].compact
        end

        # Each published row follows the rows that it is about, also where none of them took part.
        def compared(table)
          groups = table.rows.group_by { |row, *| published_row(row) }
          rows = article.rows.flat_map do |key, (title, *published)|
            tested = groups.fetch(key) { [[key, "not tested: it took no part in this run"]] }
            [*tested.map { |cells| marked(*cells) }, ["#{title} (published)", *published]]
          end
          Document::Table.new(columns: table.columns, rows: rows + groups.fetch(nil, []),
                              notes: [NOTE, *Published.of("features").remarks])
        end

        def marked(row, *cells)
          differing = answers.select { |each| each.row == row && each.differs? }.map(&:title)
          [row, *cells.zip(article.columns).map do |cell, column|
            differing.include?(column&.title) ? "#{Figures.text(cell)} #{DIFFERENT}" : cell
          end]
        end

        def article = Published.of("features").tables.first

        # The published row that is about a store.
        def published_row(row) = article.rows.keys.find { |key| row == key || row.start_with?("#{key}-", "#{key}_") }

        def answers
          @answers ||= @plan.rows.product(@plan.blocks).flat_map do |row, block|
            titles = Suites::Features::BLOCKS.fetch(block.key.to_sym).last.transform_values(&:first)
            @findings.processes(row, block).first.to_h.map do |key, answer|
              title = titles.fetch(key.to_sym)
              Answer.new(row, title, *answer, published_answer(row, title))
            end
          end
        end

        def published_answer(row, title)
          at = article.columns.index { |column| column.title == title }
          at && article.rows.dig(published_row(row), at + 1)
        end

        def reasons
          { "Not as published" => answers.select(&:differs?),
            "No answer" => answers.select { |each| OPEN.include?(each.answer) },
            "Why not" => answers.select { |each| each.answer == false && each.note && !each.differs? } }
            .filter_map do |title, some|
            section(title, Document::List.new(items: lines(some)), folded: title == "Why not") if some.any?
          end
        end

        def lines(some)
          some.group_by { |each| [each.row, each.said, each.note] }.map do |(row, said, note), alike|
            "#{row}: #{alike.map(&:title).join(", ")}: #{said}#{" (#{note})" if note}."
          end
        end
      end
    end
  end
end
