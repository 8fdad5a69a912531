# frozen_string_literal: true

# Writes the parts of every page: head, navigation, title, foot.

require_relative "html"

module Larder
  class Dashboard
    # A page as a document.
    # @api private
    class Layout
      # @param visit [Visit]
      # @param page [Page, ProblemPage]
      def initialize(visit, page)
        @visit = visit
        @page = page
      end

      # @return [String] HTML
      def to_s
        title = @page.title
        Html.document do |html|
          html.head { head(html, title) }
          html.body do
            html.a("Skip to the content", class: "skip", href: "#main")
            top(html)
            html.main(id: "main", tabindex: "-1") do
              html.h1(title)
              @page.body(html)
            end
            foot(html)
          end
        end
      end

      private

      def head(html, title)
        html.meta(charset: "utf-8")
        html.title("#{title} · Larder")
        html.meta(name: "viewport", content: "width=device-width, initial-scale=1")
        html.meta(name: "color-scheme", content: "light dark")
        html.meta(name: "robots", content: "noindex, nofollow")
        html.link(rel: "stylesheet", href: @visit.asset("dashboard.css"))
        html.link(rel: "icon", type: "image/svg+xml", href: @visit.asset("icon.svg"))
        html.script(@visit.asset("dashboard.js"))
      end

      def top(html)
        html.header(class: "top") do
          html.a("Larder", class: "brand", href: @visit.path(""))
          html.nav(aria: { label: "Dashboard" }) do
            html.ul do
              Pages::TABLE.each do |row|
                next unless listed?(row)

                current = "page" if row.path == @visit.page
                html.li { html.a(row.label, href: @visit.path(row.path), aria: { current: current }) }
              end
            end
          end
        end
      end

      def listed?(row)
        return false if row.label.nil? || (row.page.changes? && @visit.settings.read_only?)

        row.page.listed?(@visit)
      end

      def foot(html)
        html.footer(class: "foot") do
          html.span("Larder #{VERSION}")
          html.span("read only") if @visit.settings.read_only?
        end
      end
    end

    # Shows a {Problem}.
    # @api private
    class ProblemPage
      # @param problem [Problem]
      def initialize(problem)
        @problem = problem
      end

      # @return [String]
      def title
        @problem.title
      end

      # @param html [Html]
      # @return [void]
      def body(html)
        html.section(class: ["card", "problem", *("mild" if @problem.status == 200)]) do
          html.p(@problem.message)
          html.p { html.code(@problem.remedy, class: "command") } if @problem.remedy
        end
      end
    end
  end
end
