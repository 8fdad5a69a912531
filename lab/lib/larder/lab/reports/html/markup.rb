# frozen_string_literal: true

# Writes elements as XML that is also HTML, and escapes everything that is not markup already.

module Larder
  module Lab
    module Reports
      class Html
        # Writes elements. Whatever is not {Raw} is text and is escaped, so that no caller can forget to.
        module Markup
          # Markup that is finished. Only this module makes it.
          class Raw < String; end

          ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", "\"" => "&quot;", "'" => "&#39;" }.freeze
          # Characters that XML has no way to write.
          IMPOSSIBLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/
          # Elements that have no end tag.
          VOID = %i[meta br hr col path line circle rect].freeze
          # In sentences: `code`, options, and intervals, which no line breaks.
          SPECIAL = /(`[^`]+`|(?<![\w-])--[a-z][\w-]*|\([\d.,]+[^()–]{0,8}–[\d.,]+[^()–]{0,8}\))/
          # The blank between a number and its unit.
          UNIT = %r{(?<=\d) (?=(?:%|[nµm]?s|[kMGT]?B|[kMGT]?bit/s)(?!\w))}
          private_constant :ESCAPES, :IMPOSSIBLE, :VOID, :SPECIAL, :UNIT

          module_function

          # @param name [Symbol]
          # @param content [Array<String, Array, nil>] text, markup, or Arrays of them
          # @param attributes [Hash{Symbol=>Object}] underscores become hyphens; nil and false leave one out
          # @return [Raw]
          def tag(name, *content, **attributes)
            given = attributes.filter_map { |key, value| attribute(key, value) }.join
            return Raw.new("<#{name}#{given}/>") if VOID.include?(name)

            Raw.new("<#{name}#{given}>#{join(*content)}</#{name}>")
          end

          # @param content [Array<String, Array, nil>]
          # @return [Raw] one after another
          def join(*content)
            Raw.new(content.flatten.compact.map { |part| part.is_a?(Raw) ? part : escape(part) }.join)
          end

          # Sentences may have `code` between backquotes, and options. Figures stay in one line with their units and
          # intervals.
          # @param sentence [String, nil]
          # @return [Raw]
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

          # @param value [Object]
          # @return [String]
          def escape(value)
            value.to_s.encode(Encoding::UTF_8).scrub("\u{FFFD}").gsub(IMPOSSIBLE, "\u{FFFD}").gsub(/[&<>"']/, ESCAPES)
          end

          # @param text [String] CSS or the like, which is ours and needs no escapes
          # @return [Raw]
          def raw(text)
            Raw.new(text)
          end

          # @param key [Symbol]
          # @param value [Object]
          # @return [String, nil] with a blank before it
          def attribute(key, value)
            return if value.nil? || value == false

            value = number(value) if value.is_a?(Numeric)
            " #{key.to_s.tr("_", "-")}=\"#{escape(value == true ? key : value)}\""
          end

          # @param value [Numeric]
          # @return [String] at most one decimal, which is enough for a place on a chart
          def number(value)
            format("%.1f", value).delete_suffix(".0").sub(/\A-0\z/, "0")
          end
        end
      end
    end
  end
end
