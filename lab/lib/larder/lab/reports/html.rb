# frozen_string_literal: true

require "erb"
require_relative "figures"

module Larder
  module Lab
    module Reports
      # A document as one HTML file that asks for nothing else: no network, no script, no typeface. It is well-formed
      # XML as well. html/page.erb is the page, and html/page.css its looks.
      # @api private
      class Html
        # Writes elements as XML that is also HTML. Text that is not {Raw} is escaped.
        module Markup
          # Markup that is finished. Only this module makes it.
          class Raw < String
            def to_s = self
          end

          # A template whose insertions are escaped unless they are {Raw}.
          class Template < ERB
            def set_eoutvar(compiler, variable = "_erbout")
              super
              compiler.insert_cmd = "#{variable}.<< join"
            end
          end

          # Characters that XML cannot hold.
          IMPOSSIBLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/
          # In sentences: `code`, options, and intervals, which no line breaks.
          SPECIAL = /(`[^`]+`|(?<![\w-])--[a-z][\w-]*|\([\d.,]+[^()–]{0,8}–[\d.,]+[^()–]{0,8}\))/

          module_function

          # @param content [Array<String, Array, nil>] text, markup, or Arrays of them
          # @param attributes [Hash{Symbol=>Object}] underscores become hyphens; nil leaves one out
          def tag(name, *content, **attributes)
            given = attributes.compact.map { |key, value| " #{key.to_s.tr("_", "-")}=\"#{join(value)}\"" }.join
            Raw.new("<#{name}#{given}#{content.empty? ? "/>" : ">#{join(*content)}</#{name}>"}")
          end

          # @return [Raw] one after another
          def join(*content) = Raw.new(content.flatten.map { |part| part.is_a?(Raw) ? part : escape(part.to_s) }.join)

          # Figures of a sentence stay in one line with their units and intervals.
          def words(sentence)
            join(sentence.to_s.split(SPECIAL).map do |part|
              case part
              when /\A`.+`\z/ then tag(:code, part[1..-2])
              when /\A--[a-z]/ then tag(:code, part, class: "whole")
              when SPECIAL then tag(:span, part, class: "whole")
              else part.gsub(Figures::UNIT, "\u00A0")
              end
            end)
          end

          def list(sentences, **attributes)
            tag(:ul, sentences.map { |sentence| tag(:li, words(sentence)) }, **attributes)
          end

          def escape(text)
            ERB::Util.html_escape(text.encode(Encoding::UTF_8).scrub("\u{FFFD}").gsub(IMPOSSIBLE, "\u{FFFD}"))
          end
        end

        include Markup

        PAGE = File.join(__dir__, "html/page.erb")
        STYLE = File.join(__dir__, "html/page.css")
        # In a sentence: a ratio with its interval.
        DECISIVE = /(\d[\d.,]* \([\d.,]+–[\d.,]+\) times as long)/
        NAMES = { "yjit" => "YJIT", "cpu" => "Processor", "memory_bytes" => "Memory",
                  "busy_processors" => "Busy processors before the run" }.freeze
        FAILED = "A value was wrong, nothing could be measured, or a change is beyond --fail-on: do not use the " \
                 "figures before you know why."

        def self.ours?(label) = label.to_s.match?(/\Alarder\b/i)

        # @return [String, nil] the class of its color
        def self.tone(verdict) = verdict && "tone-#{Bench::Verdict::COLORS.fetch(verdict.to_sym)}"

        def initialize(document)
          @document = document
          @chapters = document.chapters.each_with_index.map { |chapter, at| [chapter, "chapter-#{at + 1}"] }
          @answer = document.answer
        end

        def to_s = Template.new(File.read(PAGE), trim_mode: "-").result(binding)

        private

        # Whether the title of the only chapter is that of the page.
        def alone? = @chapters.one? && !@answer

        def title
          return Document::QUESTION if @answer

          alone? ? @document.chapters.first.title : "What was measured"
        end

        # The level under the title of a chapter.
        def heading = alone? ? :h2 : :h3

        # Sections with the ids that links name.
        def sections(chapter, id)
          chapter.sections.each_with_index.map { |section, at| [section, "#{id}-#{at + 1}"] }
        end

        def warnings(chapter)
          count = chapter.warnings.size
          words = [("failed" if chapter.failed?), ("#{count} warning#{"s" if count > 1}" if count.positive?)].compact
          tag(:small, words.join(", ")) if words.any?
        end

        # Nil without contents.
        def box(kind, title, sentences, level: heading)
          tag(:div, tag(level, title), list(sentences), class: kind) if sentences.any?
        end

        def terms(pairs) = join(pairs.map { |name, value| tag(:div, tag(:dt, name), tag(:dd, value)) })

        # The decisive figure stands out.
        def decisive(text)
          join(text.split(DECISIVE).map { |part| part.match?(DECISIVE) ? tag(:strong, words(part)) : words(part) })
        end

        # A sentence of the answer.
        def answered(about, text, verdict)
          tag(:section, tag(:h2, about), tag(:p, decisive(text)), class: Html.tone(verdict))
        end

        # @param id [String] of the block
        # @param label [String] the title of its section
        def block(block, id, label)
          case block.kind
          when "table" then Table.new(block, label: label).to_html
          when "list" then list(block.items)
          when "prose" then tag(:p, words(block.text))
          when "code" then tag(:pre, tag(:code, block.text.chomp))
          else chart(block, id, label)
          end
        end

        # The title of the section is not repeated.
        def chart(block, id, label)
          title = tag(:h4, words(block.title)) unless block.title == label
          tag(:figure, tag(:figcaption, title, tag(:p, words(block.sentence), id: id)),
              Lines.new(block).to_html(aria_label: block.title, aria_describedby: id),
              tag(:details, tag(:summary, "Figures of this chart"), Table.new(block.data, label: block.title).to_html))
        end

        # Circumstances of a run that are needed to judge it.
        def facts
          time, ruby, yjit, bytes = @document.environment.values_at("time", "ruby", "yjit", "memory_bytes")
          machine = @document.machine(bytes && Figures.bytes(bytes))
          time &&= "#{time[0, 16].tr("T", " ")} UTC"
          { "When" => time, "Machine" => words(machine), "Ruby" => ruby.to_s[/\Aj?ruby [\w.]+|.*/i], "YJIT" => yjit,
            "Took" => Figures.span(@document.elapsed_seconds), "By" => "larder-lab #{@document.larder_lab}" }
            .reject { |_, value| value.to_s.empty? }
        end

        # The environment in full.
        def machine
          @document.environment.compact.map do |name, value|
            value = Figures.bytes(value) if name.end_with?("_bytes")
            [NAMES.fetch(name) { name.tr("_", " ").capitalize }, value]
          end
        end
      end
    end
  end
end

require_relative "html/charts"
require_relative "html/table"
