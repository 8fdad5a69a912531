# frozen_string_literal: true

require_relative "html/back"
require_relative "html/chapter_page"
require_relative "html/front"
require_relative "html/markup"
require_relative "html/patterns"

module Larder
  module Lab
    module Reports
      # A document as one HTML file that asks for nothing else: no network, no script, no typeface. Its charts are SVG.
      # It is well-formed XML as well.
      class Html
        Reports.register("html", self)

        STYLE = File.expand_path("html/style.css", __dir__)
        # Tells browsers to fetch nothing, whatever might have got into the page.
        POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        private_constant :STYLE, :POLICY

        # @param document [Document]
        def initialize(document, **)
          chapters = document.chapters
          @pages = chapters.each_with_index.map do |each, at|
            ChapterPage.new(each, at + 1, alone: chapters.size == 1, answering: each.equal?(document.answering))
          end
          @front = Front.new(document, @pages)
          @back = Back.new(document)
        end

        # @return [String]
        def to_s
          "<!DOCTYPE html>\n#{tag(:html, head, "\n", body, lang: "en", xmlns: "http://www.w3.org/1999/xhtml")}\n"
        end

        private

        def tag(...)
          Markup.tag(...)
        end

        def head
          tag(:head, tag(:meta, charset: "utf-8"),
              tag(:meta, name: "viewport", content: "width=device-width, initial-scale=1"),
              tag(:meta, http_equiv: "Content-Security-Policy", content: POLICY),
              tag(:meta, name: "color-scheme", content: "light dark"),
              tag(:meta, name: "generator", content: "larder-lab"),
              tag(:title, "#{@front.title} – larder-lab"), tag(:style, Markup.raw("\n#{File.read(STYLE)}")))
        end

        def body
          tag(:body, tag(:a, "Skip to the findings", href: "#findings", class: "skip"), Patterns.svg, "\n",
              tag(:div, @front.header, "\n", @front.contents, "\n",
                  tag(:main, @front.short, "\n", @pages.flat_map do |page|
                    [page.to_html, "\n"]
                  end, @back.to_html, id: "findings", tabindex: -1),
                  class: "page"))
        end
      end
    end
  end
end
