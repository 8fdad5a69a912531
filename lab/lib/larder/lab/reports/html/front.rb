# frozen_string_literal: true

require "time"
require_relative "../figures"
require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # The head of the page: what was run, when, on which machine, and where to find what.
        class Front
          # @param document [Document]
          # @param chapters [Array<ChapterPage>]
          def initialize(document, chapters)
            @document = document
            @chapters = chapters
          end

          # @return [String] of the page
          def title
            alone? ? @chapters.first.chapter.title : "What was measured"
          end

          # @return [Markup::Raw]
          def header
            tag(:header, tag(:p, "larder-lab", class: "kicker"), tag(:h1, Markup.words(title), id: "top"),
                tag(:dl, facts.map do |name, value|
                  tag(:div, tag(:dt, name), tag(:dd, value))
                end), doubts, class: "front")
          end

          # @return [Markup::Raw]
          def contents
            more = [["machine", "Where it was measured"], ["reading", "How to read it"]].map do |id, name|
              item(id, name)
            end
            tag(:nav, tag(:h2, "Contents"), tag(:ol, entries, more), class: "contents", aria_label: "Contents")
          end

          private

          def tag(...)
            Markup.tag(...)
          end

          def alone?
            @chapters.size == 1
          end

          def facts
            environment = @document.environment
            { "Run" => tag(:code, "larder-lab #{@document.command}"), "When" => at(environment["time"]),
              "Machine" => machine(environment), "Ruby" => environment["ruby"]&.[](/\Aj?ruby [\w.]+|.+/i),
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
          def doubts
            raised = @chapters.select { |page| page.chapter.warnings.to_a.any? || page.chapter.failed? }
            return if raised.empty? || alone?

            links = raised.map { |page| tag(:a, Markup.words(page.chapter.title), href: "##{page.id}") }
            tag(:p, "Doubts are raised about: ", links.flat_map { |link| [", ", link] }.drop(1), ".", class: "doubts")
          end

          def entries
            return @chapters.first.sections.map { |id, title| item(id, title) } if alone?

            @chapters.map do |page|
              inner = page.sections.map { |id, title| item(id, title) }
              item(page.id, page.chapter.title, *(tag(:ol, inner) if inner.any?))
            end
          end

          def item(id, name, *inner)
            tag(:li, tag(:a, Markup.words(name), href: "##{id}"), *inner)
          end
        end
      end
    end
  end
end
