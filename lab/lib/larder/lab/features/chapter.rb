# frozen_string_literal: true

# Builds the report chapter of `larder-lab features`: the published table first, then what it did not ask.

require_relative "../document"
require_relative "questions"

module Larder
  module Lab
    # What stores can do: questions, and how they are put to live stores.
    module Features
      # Tables of answers. Cells are yes and no, a word or a number; the reason of each is among the details.
      class Chapter
        # In cells that could not be tested; the list below says why.
        UNTESTED = "not tested"
        NO_ANSWERS = [nil, "error", UNTESTED].freeze

        # @param rows [Array<Row>]
        # @param options [Options]
        # @param environment [Hash]
        def initialize(rows, options, environment)
          @rows = rows
          @options = options
          @environment = environment
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(
            key: "features", title: "What each store does", facts: facts, conclusions: conclusions,
            lead: "Every cell was tested on this machine, with processes, servers and files of its own; the " \
                  "published table stands beside it where it answers otherwise.",
            warnings: warnings, sections: sections.select { |section| section.blocks.any? },
            failed: tested.empty?, measures: measures, details: details
          )
        end

        private

        def tested
          @rows.select(&:tested?)
        end

        def facts
          ["#{tested.size} of #{@rows.size} stores", "room of #{mebibytes(Visit::ROOM)}, filled one of " \
                                                     "#{mebibytes(@options.size)}", "seed #{@options.seed}"]
        end

        def mebibytes(bytes)
          "#{bytes / (1024 * 1024)} MiB"
        end

        def sections
          [section("The published table, tested", Questions::PUBLISHED, differences),
           section("What lasts, and what processes share", Questions::LASTING),
           section("Calls", Questions::CALLS),
           section("Twice its room, written", Questions::FILLING, []) { |table| add_figures(table) },
           Document::Section.new(title: "Not tested", blocks: listed(failures)),
           Document::Section.new(title: "Why", blocks: listed(reasons))]
        end

        def section(title, questions, list = [])
          columns = [{ title: "store", format: "text" },
                     *questions.map { |each| { title: each.title, format: format_of(each), align: "left" } }]
          rows = @rows.map { |row| row.tested? ? cells(row, questions) : [row.name, "not tested: #{row.reason}"] }
          table = Document::Table.build(columns: columns, rows: rows, notes: meanings(questions))
          yield table if block_given?
          Document::Section.new(title: title, blocks: [table, *listed(list)])
        end

        def format_of(question)
          question.key == "largest" ? "bytes" : "text"
        end

        def meanings(questions)
          ["#{questions.map { |each| "#{each.title}: #{each.meaning}" }.join("; ")}."]
        end

        def cells(row, questions)
          [row.name, *questions.map { |question| cell(row, question.key) }]
        end

        # Said in the cell, since tables are read one cell at a time.
        def cell(row, key)
          answer = row.answer(key)
          return answer || UNTESTED if NO_ANSWERS.include?(answer)

          published = PublishedTable.answer(row.name, key)
          published.nil? || published == answer ? answer : "#{word(answer)} (published: #{word(published)})"
        end

        def word(answer)
          { true => "yes", false => "no" }.fetch(answer, answer.to_s)
        end

        def add_figures(table)
          titles = [["kept", "integer"], ["of", "integer"], ["first 200", "integer"], ["last 200", "integer"],
                    ["disk", "bytes"], ["tmpfs", "bytes"], ["server", "bytes"], ["own memory", "bytes"]]
          table.columns.concat(titles.map { |title, form| Document::Column.new(title: title, format: form) })
          @rows.zip(table.rows) { |row, cells| cells.concat(figures(row)) if row.tested? }
        end

        def figures(row)
          filling = row.evidence["filling"] || {}
          growth = filling["growth"] || {}
          [*filling.values_at("kept", "written", "early", "late"), *growth.values_at("disk", "tmpfs", "server", "own")]
        end

        def listed(items)
          items.empty? ? [] : [Document::List.new(items: items)]
        end

        def differences
          each_answer.filter_map do |row, question|
            published = PublishedTable.answer(row.name, question.key)
            answer = row.answer(question.key)
            next if published.nil? || NO_ANSWERS.include?(answer) || answer == published

            "#{row.name}, #{question.title}: published: #{word(published)}; here: #{word(answer)}" \
              "#{reason_of(row, question)}."
          end
        end

        def failures
          each_answer.filter_map do |row, question|
            next unless NO_ANSWERS.include?(row.answer(question.key))

            "#{row.name}, #{question.title}: #{row.note(question.key) || "no answer came"}"
          end
        end

        # Why a store does not do what the others do.
        def reasons
          denied = each_answer.select { |row, question| row.answer(question.key) == false }
          denied.group_by { |row, question| [row.name, reason_of(row, question)] }.map do |(name, reason), answers|
            "#{name}: #{answers.map { |_, question| question.title }.join(", ")}: no#{reason}."
          end
        end

        def reason_of(row, question)
          note = row.note(question.key)
          note ? " (#{note})" : ""
        end

        def each_answer
          tested.product(Questions.all)
        end

        def conclusions
          [lasting, sharing, limits, *agreement].compact
        end

        def named(key, answer = true)
          tested.select { |row| row.answer(key) == answer }.map(&:name)
        end

        def lasting
          all = named("app_restart") & named("app_killed") &
                tested.reject { |row| [false, nil].include?(row.answer("server_killed")) }.map(&:name)
          "What is cached outlives a restart and kill -9 of all that keeps it in #{list(all)}."
        end

        def sharing
          "Processes of one machine share #{list(named("cross_process"))}; " \
            "of increments by several at once none is lost in #{list(named("atomic_increment"))}."
        end

        def limits
          over = named("within_limit", false)
          "Twice their room written, #{list(named("evicts"))} gave up old values for new ones; " \
            "#{over.empty? ? "none took" : "#{list(over)} took"} more than a quarter above the limit."
        end

        def agreement
          compared = each_answer.count do |row, each|
            !PublishedTable.answer(row.name, each.key).nil? && !NO_ANSWERS.include?(row.answer(each.key))
          end
          return [] if compared.zero?

          ["Of #{compared} cells that the published table has an answer for, #{differences.size} differ here."]
        end

        def list(names)
          names.empty? ? "none" : names.join(", ")
        end

        def warnings
          tested.flat_map do |row|
            (row.evidence["trouble"] || []).map { |trouble| "#{row.name}: a process failed in part #{trouble}." }
          end
        end

        def measures
          tested.filter_map do |row|
            largest = row.answer("largest")
            next unless largest.is_a?(Integer)

            Document::Measure.new(key: "features/largest/#{row.name}", label: "#{row.name}, largest value",
                                  unit: "bytes", better: "higher", samples: [largest])
          end
        end

        def details
          { environment: @environment, published: PublishedTable::ROWS, size: @options.size, seed: @options.seed,
            rows: @rows.map { |row| row.to_h.merge(state: row.state.to_s) } }
        end
      end
    end
  end
end
