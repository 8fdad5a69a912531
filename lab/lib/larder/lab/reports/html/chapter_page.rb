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
          # @param answering [Boolean] whether the page begins with its answer and its warnings
          def initialize(chapter, number, alone:, answering: false)
            @chapter = chapter
            @id = "chapter-#{number}"
            @alone = alone && !answering
            @answering = answering
          end

          # @return [Array<Array(String, String)>] id and title of each section that is not folded
          def sections
            named.reject { |section, _| section.folded }.map { |section, id| [id, section.title.to_s] }
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

            advice = tag(:p, "A value was wrong, or nothing could be measured. " \
                             "Do not use the figures before you know why.")
            box("failed", "This run failed", [advice, *(list(chapter.failures) if chapter.failures.to_a.any?)])
          end

          def conclusions
            return if chapter.conclusions.to_a.empty?

            box("findings", "Findings", list(chapter.conclusions))
          end

          def warnings
            return if @answering || chapter.warnings.to_a.empty?

            box("warnings", "Warnings", list(chapter.warnings))
          end

          def box(kind, title, content)
            tag(:div, tag(:"h#{level}", title), content, class: kind)
          end

          def list(sentences)
            tag(:ul, sentences.map { |sentence| tag(:li, Markup.words(sentence)) })
          end

          def named
            chapter.reading_order.each_with_index.map { |section, index| [section, "#{id}-#{index + 1}"] }
          end

          def blocks
            named.map { |section, id| section.folded ? folded(section, id) : unfolded(section, id) }
          end

          def unfolded(section, id)
            tag(:section, tag(:"h#{level}", Markup.words(section.title), id: "#{id}-title"), content(section, id),
                id: id, aria_labelledby: "#{id}-title")
          end

          def folded(section, id)
            tag(:details, tag(:summary, Markup.words(section.title)), content(section, id), id: id, class: "fold")
          end

          def content(section, id)
            blocks = Blocks.new(id, section.title, level + 1)
            section.blocks.map { |block| blocks.to_html(block) }
          end

          def level
            @alone ? 2 : 3
          end
        end
      end
    end
  end
end
