# frozen_string_literal: true

require "test_helper"
require_relative "../../../../../rakelib/house/browser"
require_relative "../../../support/rich_document"

module Larder
  module Lab
    module Reports
      # The page in a real browser.
      class HtmlBrowserTest < ActiveSupport::TestCase
        SCHEMES = %w[light dark].freeze
        # Names of colours in the style sheet: of text and what is behind it, and of lines and marks.
        TEXTS = [%w[ink paper], %w[soft paper], %w[own paper], %w[own own-faint], %w[ink own-faint],
                 %w[warning warning-paper], %w[ink warning-paper]].freeze
        LINES = (1..7).map { |number| ["s#{number}", "paper"] }.freeze
        # Pairs of texts that lie on each other, in drawings that are shown.
        COLLISIONS = <<~JAVASCRIPT
          [...document.querySelectorAll("figure svg")].filter(svg => svg.getBoundingClientRect().width > 0).flatMap(svg => {
            const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
            return texts.flatMap(([one, a], index) => texts.slice(index + 1).filter(([_, b]) =>
              a.left + 1 < b.right && b.left + 1 < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom
            ).map(([other]) => `${one} | ${other}`));
          })
        JAVASCRIPT
        # What leaves its drawing.
        CUT = <<~JAVASCRIPT
          [...document.querySelectorAll("figure svg")].filter(svg => svg.getBoundingClientRect().width > 0).flatMap(svg => {
            const edge = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("text")].filter(text => {
              const place = text.getBoundingClientRect();
              return place.left < edge.left - 1 || place.right > edge.right + 1 || place.bottom > edge.bottom + 1;
            }).map(text => text.textContent);
          })
        JAVASCRIPT

        # One for all tests, because it takes seconds to start.
        def self.browser
          @browser ||= House::Browser.start.tap do |browser|
            Minitest.after_run { browser.close }
          end
        end

        def self.page
          @page ||= Html.new(RichDocument.build(chapters: 2)).to_s
        end

        setup { skip House::Browser.missing if House::Browser.missing }

        test "nothing is asked for, nothing goes wrong, nothing is wider than the screen" do
          each_look do |browser, _, width|
            assert_empty browser.requests
            assert_empty browser.complaints
            assert_equal width, browser.evaluate("document.documentElement.scrollWidth")
          end
        end

        test "the scheme is the reader's" do
          papers = SCHEMES.map do |scheme|
            look(scheme: scheme) { |browser| browser.evaluate("getComputedStyle(document.body).backgroundColor") }
          end
          assert_equal ["rgb(253, 252, 249)", "rgb(22, 24, 27)"], papers
        end

        test "no text of a chart lies on another one or leaves the drawing, and all can be read" do
          [360, 500, 800, 1280].each do |width|
            look(width: width) do |browser|
              assert_empty browser.evaluate(COLLISIONS), "at #{width}"
              assert_empty browser.evaluate(CUT), "at #{width}"
              assert_operator browser.evaluate("Math.min(...[...document.querySelectorAll('figure svg')].map(svg => " \
                                               "svg.getBoundingClientRect().width).filter(width => width > 0)) / " \
                                               "(innerWidth < 720 ? 330 : 720) * 13"), :>=, 11
            end
          end
        end

        test "a screen reader hears each chart once, with its title and its sentence" do
          look do |browser|
            browser.command("Accessibility.enable")
            images = browser.command("Accessibility.getFullAXTree")["nodes"].select { |node| image?(node) }
            assert_equal browser.evaluate("document.querySelectorAll('figure').length"), images.size
            assert_equal "Reading what is there: time per call", images.first.dig("name", "value")
            assert_match(/\ALarder’s 1.10 µs is 17 times/, images.first.dig("description", "value"))
          end
        end

        test "the tab key leads to the findings and to all that scrolls" do
          look do |browser|
            key = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 }
            browser.command("Input.dispatchKeyEvent", type: "keyDown", **key)
            assert_equal "Skip to the findings", browser.evaluate("document.activeElement.textContent")
            assert_equal 0, browser.evaluate("document.activeElement.getBoundingClientRect().left")
            assert_empty browser.evaluate("[...document.querySelectorAll('.scroll')].filter(box => box.tabIndex)")
          end
        end

        test "a print has the figures of the charts and no charts for telephones" do
          look(media: "print", width: 700) do |browser|
            heights = browser.evaluate("[...document.querySelectorAll('details table')].map(each => each.offsetHeight)")
            assert_operator heights.min, :>, 20
            assert_equal 0, browser.evaluate("document.querySelector('svg.narrow').getBoundingClientRect().width")
          end
        end

        test "colours have the contrast that WCAG's AA asks for" do
          SCHEMES.each do |scheme|
            look(scheme: scheme) do |browser|
              TEXTS.each { |pair| assert_operator contrast(*colours(browser, pair)), :>=, 4.5, "#{pair} #{scheme}" }
              LINES.each { |pair| assert_operator contrast(*colours(browser, pair)), :>=, 3, "#{pair} #{scheme}" }
            end
          end
        end

        private

        def each_look
          SCHEMES.product([360, 1280]).each do |scheme, width|
            look(scheme: scheme, width: width) { |browser| yield browser, scheme, width }
          end
        end

        def look(**options)
          with_directory do |dir|
            file = File.join(dir, "report.html")
            File.write(file, self.class.page)
            self.class.browser.visit(file, **options)
            yield self.class.browser
          end
        end

        def colours(browser, names)
          names.map do |name|
            browser.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--#{name}')")
          end
        end

        def image?(node)
          ["image", "img"].include?(node.dig("role", "value")) && !node["ignored"]
        end

        def contrast(one, other)
          light, dark = [one, other].map { |colour| luminance(colour) }.sort.reverse
          (light + 0.05) / (dark + 0.05)
        end

        # As WCAG 2 defines it, of "#rrggbb".
        def luminance(colour)
          parts = colour.strip.delete("#").scan(/../).map do |hex|
            share = hex.to_i(16) / 255.0
            share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055)**2.4
          end
          parts.zip([0.2126, 0.7152, 0.0722]).sum { |part, weight| part * weight }
        end
      end
    end
  end
end
