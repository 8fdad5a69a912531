# frozen_string_literal: true

# Adds to a chapter of a suite: the published table with the tested one, and the reasons of answers.

require_relative "chapter"

module Larder
  module Lab
    module SuiteReport
      # The chapter of the questions about what stores can do.
      class FeaturesChapter < Chapter
        DIFFERENT = "≠"
        NOTE = "#{DIFFERENT}: not as published. larder-redis is a layered store: Larder in front of Redis, which " \
               "other machines use, too.".freeze
        OPEN = [Suites::Features::UNKNOWN, Suites::Features::UNTRIED].freeze
        private_constant :DIFFERENT, :NOTE, :OPEN

        # An answer of a row to a question, which is the title of its column, with what was seen; and the published one.
        Answer = Struct.new(:row, :title, :answer, :note, :there) do
          # @return [Boolean] whether both were given
          def compared?
            !there.nil? && !OPEN.include?(answer)
          end

          # @return [Boolean]
          def differs?
            compared? && answer != there
          end

          # @return [String]
          def word
            Reports::Cells.text(answer)
          end
        end

        private

        def conclusions
          return super unless @findings.base

          differing, all = answers.select(&:compared?).then { |both| [both.count(&:differs?), both.size] }
          lasting = ["app restart", "app kill -9", "server kill -9"].map { |title| named(title, true, "no server") }
          [("#{differing} of #{all} published answers that were tested differ here." if all.positive?),
           "Values outlive a restart and kill -9 of the application and of the server in #{list(lasting.inject(:&))}.",
           "Processes of one machine share #{list(named("cross process", true))}; no increment of several at once is " \
           "lost in #{list(named("increment", true))}."].compact
        end

        def named(title, *wanted)
          answers.select { |each| each.title == title && wanted.include?(each.answer) }.map(&:row)
        end

        def list(rows)
          rows.empty? ? "none" : rows.join(", ")
        end

        def sections
          first, *others = @figures.sections
          beside(first) if @plan.blocks.first.key == "published"
          [first, *others, *reasons, absences, (software if @findings.base)].compact
        end

        # Each published row follows the rows that it is about, also where none of them took part.
        def beside(made)
          made.blocks[-1] = compared(made.blocks.last)
        end

        def compared(table)
          groups = table.rows.group_by { |row, *| published_row(row) }
          rows = article.rows.flat_map do |key, (title, *published)|
            tested = groups.fetch(key) { [[key, "not tested: it took no part in this run"]] }
            [*tested.map { |row, *cells| [row, *marked(row, cells)] }, ["#{title} (published)", *published]]
          end
          Document::Table.build(columns: table.columns.map(&:to_h), rows: rows + groups.fetch(nil, []),
                                notes: [NOTE, *Published.of("features").remarks])
        end

        def marked(row, cells)
          differing = answers.select { |each| each.row == row && each.differs? }.map(&:title)
          titles = article.columns.map(&:title)
          cells.zip(titles).map do |cell, title|
            differing.include?(title) ? "#{Reports::Cells.text(cell)} #{DIFFERENT}" : cell
          end
        end

        def article
          Published.of("features").tables.first
        end

        # @return [String, nil] the published row that is about a store
        def published_row(row)
          article.rows.keys.find { |key| row == key || row.start_with?("#{key}-", "#{key}_") }
        end

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
          differing, open, denied = [:differs?.to_proc, ->(each) { OPEN.include?(each.answer) },
                                     ->(each) { each.answer == false }].map { |chosen| answers.select(&chosen) }
          [explained("Not as published", differing.map { |each| difference(each) }),
           explained("No answer", open.map { |each| "#{each.row}, #{each.title}: #{each.answer}: #{each.note}." }),
           explained("Why not", denials(denied), folded: true)].compact
        end

        def explained(title, items, **how)
          section(title, Document::List.new(items: items), **how) if items.any?
        end

        def difference(answer)
          "#{answer.row}, #{answer.title}: published: #{Reports::Cells.text(answer.there)}; here: #{answer.word} " \
            "(#{answer.note})."
        end

        def denials(denied)
          denied.group_by { |each| [each.row, each.note] }.map do |(row, note), all|
            "#{row}: #{all.map(&:title).join(", ")}: no#{" (#{note})" if note}."
          end
        end
      end
    end
  end
end
