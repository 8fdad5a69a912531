# frozen_string_literal: true

require_relative "blocks"
require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # One chapter: what was done, what follows, what speaks against it, and then the sections.
        class ChapterPage
          # @return [String] what links name
          attr_reader :id
          # @return [Document::Chapter]
          attr_reader :chapter

          # @param chapter [Document::Chapter]
          # @param number [Integer] in the document, from 1
          # @param alone [Boolean] whether the document has no other, so that its title is the page's
          def initialize(chapter, number, alone:)
            @chapter = chapter
            @id = "chapter-#{number}"
            @alone = alone
          end

          # @return [Array<Array(String, String)>] id and title of each section
          def sections
            chapter.reading_order.each_with_index.map { |section, index| ["#{id}-#{index + 1}", section.title.to_s] }
          end

          # @return [Markup::Raw]
          def to_html
            heading = tag(:h2, Markup.words(chapter.title), id: "#{id}-title") unless @alone
            lead = tag(:p, Markup.words(chapter.lead), class: "lead") unless chapter.lead.to_s.empty?
            tag(:section, heading, lead, facts, within, failure, conclusions, warnings, blocks,
                id: id, class: "chapter", aria_labelledby: @alone ? "top" : "#{id}-title")
          end

          private

          def tag(...)
            Markup.tag(...)
          end

          def facts
            return if chapter.facts.to_a.empty?

            tag(:ul, chapter.facts.map { |fact| tag(:li, Markup.words(fact)) }, class: "conditions",
                aria_label: "How it was run")
          end

          # Where the page's contents name chapters alone.
          def within
            return if @alone || sections.size < 2

            links = sections.map { |id, title| [tag(:a, Markup.words(title), href: "##{id}"), " "] }
            tag(:nav, links, class: "within", aria_label: "In this chapter")
          end

          def failure
            return unless chapter.failed?

            box("failed", "This run failed", tag(:p, "A value was wrong, or nothing could be measured. " \
                                                     "Do not use the figures before you know why."))
          end

          def conclusions
            return if chapter.conclusions.to_a.empty?

            box("findings", "Findings", list(chapter.conclusions))
          end

          def warnings
            return if chapter.warnings.to_a.empty?

            box("warnings", "Warnings", list(chapter.warnings))
          end

          def box(kind, title, content)
            tag(:div, tag(:"h#{level}", title), content, class: kind)
          end

          def list(sentences)
            tag(:ul, sentences.map { |sentence| tag(:li, Markup.words(sentence)) })
          end

          def blocks
            chapter.reading_order.zip(sections).map do |section, (id, title)|
              blocks = Blocks.new(id, title, level + 1)
              tag(:section, tag(:"h#{level}", Markup.words(title), id: "#{id}-title"),
                  section.blocks.map { |block| blocks.to_html(block) }, id: id, aria_labelledby: "#{id}-title")
            end
          end

          def level
            @alone ? 2 : 3
          end
        end
      end
    end
  end
end
