# frozen_string_literal: true

require "erb"

module Larder
  module Lab
    module Reports
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
          # The blank between a number and its unit.
          UNIT = %r{(?<=\d) (?=(?:%|[nµm]?s|[kMGT]?B|[kMGT]?bit/s)(?!\w))}
          private_constant :IMPOSSIBLE, :SPECIAL, :UNIT

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
              else part.gsub(UNIT, "\u00A0")
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
      end
    end
  end
end
