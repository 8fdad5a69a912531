# frozen_string_literal: true

require "time"
require_relative "../figures"
require_relative "blocks"
require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # The head of the page: what was run, when, on which machine, and where to find what.
        class Front
          # In a sentence: a ratio with its interval.
          DECISIVE = /(\d[\d.,]* \([\d.,]+–[\d.,]+\) times as long)/
          private_constant :DECISIVE

          # @param document [Document]
          # @param chapters [Array<ChapterPage>]
          def initialize(document, chapters)
            @document = document
            @chapters = chapters
          end

          # @return [String] of the page
          def title
            return Document::QUESTION if @document.answer

            alone? ? @chapters.first.chapter.title : "What was measured"
          end

          # @return [Markup::Raw]
          def header
            listed = facts.map { |name, value| tag(:div, tag(:dt, name), tag(:dd, value)) }
            tag(:header, tag(:p, "larder-lab", class: "kicker"), tag(:h1, Markup.words(title), id: "top"), answer,
                tag(:dl, listed, class: "facts"), warnings, class: "front")
          end

          # @return [Markup::Raw]
          def contents
            list = tag(:ol, (item("short", "In short") if found.any?), entries,
                       item("machine", "Where it was measured"), item("reading", "How to read it"))
            tag(:nav, tag(:h2, "Contents"), list, class: "contents", aria_label: "Contents")
          end

          # @return [Markup::Raw, nil] of several chapters, what each found first
          def short
            return if found.empty?

            tag(:section, tag(:h2, "In short", id: "short-title"), tag(:ul, found), id: "short", class: "short",
                aria_labelledby: "short-title")
          end

          private

          def tag(...)
            Markup.tag(...)
          end

          def alone?
            @chapters.size == 1 && !@document.answer
          end

          # The first screen: sentences, the chart, and what makes both less reliable.
          def answer
            found = @document.answer or return
            sentences = found.sentences.map { |sentence| [tag(:dt, sentence["about"]), text(sentence)] }
            chart = found.chart && Blocks.new("answer", title, 2).to_html(found.chart)
            tag(:div, tag(:dl, sentences, class: "answers"), tag(:div, chart, doubts, class: "share"), class: "answer")
          end

          # The decisive figure stands out.
          def text(sentence)
            verdict = sentence["verdict"]
            words = sentence["text"].split(DECISIVE).map do |part|
              part.match?(DECISIVE) ? tag(:strong, Markup.words(part)) : Markup.words(part)
            end
            tag(:dd, words,
                class: verdict && "tone-#{Bench::Verdict::COLORS.fetch(verdict.to_sym)}")
          end

          def doubts
            warnings = @document.answering.warnings.to_a
            return if warnings.empty?

            tag(:div, tag(:h2, "Warnings"), tag(:ul, warnings.map { |warning| tag(:li, Markup.words(warning)) }),
                class: "warnings")
          end

          def found
            @found ||= alone? || @document.answer ? [] : @chapters.filter_map { |page| first_finding(page) }
          end

          def first_finding(page)
            sentence = page.chapter.conclusions.to_a.first
            link = tag(:a, Markup.words(page.chapter.title), href: "##{page.id}")
            tag(:li, link, ": ", Markup.words(sentence)) if sentence
          end

          def facts
            environment = @document.environment
            { "Run" => tag(:code, @document.line), "When" => at(environment["time"]),
              "Machine" => machine(environment), "Ruby" => environment["ruby"]&.[](/\Aj?ruby [\w.]+|.+/i),
              "YJIT" => environment["yjit"],
              "Took" => took(@document.elapsed), "By" => "larder-lab #{@document.version}" }.compact
          end

          def machine(environment)
            cores = environment["cores"]
            parts = [environment["cpu"], cores && "#{cores} #{cores == 1 ? "core" : "cores"}",
                     environment["memory_bytes"] && Figures.bytes(environment["memory_bytes"])].compact
            parts.join(", ") if parts.any?
          end

          def at(time)
            time && tag(:time, Time.iso8601(time).utc.strftime("%-d %B %Y, %H:%M UTC"), datetime: time)
          rescue ArgumentError
            time
          end

          def took(seconds)
            minutes = (seconds / 60).floor
            minutes.positive? ? "#{minutes} min #{(seconds % 60).round} s" : Figures.duration(seconds)
          end

          # How many there are in all, for those who read no further.
          def warnings
            return if alone? || @document.answer

            warned = @chapters.count { |page| page.chapter.warnings.to_a.any? }
            failed = @chapters.count { |page| page.chapter.failed? }
            words = [("warnings in #{warned}" if warned.positive?), ("#{failed} failed" if failed.positive?)]
            return if words.none?

            tag(:p, tag(:span, "\u26A0\uFE0E ", class: "mark-of-warning", aria_hidden: "true"),
                "Of #{@chapters.size} chapters, #{words.compact.join(", ")}. Each says why at its head.",
                class: "warned")
          end

          def entries
            return @chapters.first.sections.map { |id, title| item(id, title) } if alone?

            @chapters.map { |page| item(page.id, page.chapter.title, mark(page.chapter)) }
          end

          # The number of warnings of a chapter.
          def mark(chapter)
            count = chapter.warnings.to_a.size
            words = [("failed" if chapter.failed?),
                     ("#{count} #{count == 1 ? "warning" : "warnings"}" if count.positive?)].compact
            Markup.join(" ", tag(:small, words.join(", "), class: "mark-of-warning")) if words.any?
          end

          def item(id, name, *inner)
            tag(:li, tag(:a, Markup.words(name), href: "##{id}"), *inner)
          end
        end
      end
    end
  end
end
