# frozen_string_literal: true

require "test_helper"
require_relative "../../../../../rakelib/house/browser"
require_relative "../../../support/rich_document"
require "support/simulated_runs"

module Larder
  module Lab
    module Reports
      # The page in a real browser.
      class HtmlBrowserTest < ActiveSupport::TestCase
        SCHEMES = %w[light dark].freeze
        # Names of colours in the style sheet: of text and what is behind it, and of lines and marks.
        TEXTS = [%w[ink paper], %w[soft paper], %w[own paper], %w[own own-faint], %w[ink own-faint],
                 %w[warning warning-paper], %w[ink warning-paper], %w[warning paper]].freeze
        LINES = (1..7).map { |number| ["s#{number}", "paper"] }.freeze
        # Pairs of texts of a drawing that lie on each other.
        COLLISIONS = <<~JAVASCRIPT
          [...document.querySelectorAll("figure svg")].flatMap(svg => {
            const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
            return texts.flatMap(([one, a], index) => texts.slice(index + 1).filter(([_, b]) =>
              a.left + 1 < b.right && b.left + 1 < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom
            ).map(([other]) => `${one} | ${other}`));
          })
        JAVASCRIPT
        # Cells and boxes that are wider than their room, all details opened.
        TOO_WIDE = <<~JAVASCRIPT
          document.querySelectorAll("details").forEach(each => each.open = true);
          [...document.querySelectorAll(".scroll, pre, td:not(.plot), dd, th")].filter(box => box.scrollWidth > box.clientWidth + 1 &&
            getComputedStyle(box).display != "inline").map(box => box.textContent.slice(0, 60));
        JAVASCRIPT
        # Text whose color is too near to what is behind it: [text, ratio].
        FAINT = <<~JAVASCRIPT
          (() => {
            const parts = color => color.match(/[\\d.]+/g).map(Number);
            const luminance = color => parts(color).slice(0, 3).map(c => c / 255)
              .map(c => c > 0.04045 ? ((c + 0.055) / 1.055) ** 2.4 : c / 12.92)
              .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const behind = box => { const color = getComputedStyle(box).backgroundColor;
              return parts(color)[3] === 0 ? behind(box.parentElement) : color; };
            return [...document.querySelectorAll("h1, h2, h3, dt, dd, strong, th, td, p, li, small, summary, code, a, text")]
              .filter(box => box.getClientRects().length && box.textContent.trim()).map(box => {
                const style = getComputedStyle(box);
                const color = box.tagName == "text" ? style.fill : style.color;
                const [one, other] = [luminance(color), luminance(behind(box))].sort((a, b) => b - a);
                return [box.textContent.slice(0, 40), (one + 0.05) / (other + 0.05)];
              }).filter(([_, ratio]) => ratio < 4.5);
          })()
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

        # A page that begins with an answer.
        def self.overview
          @overview ||= Html.new(SimulatedRuns.overview(load: 9.0)).to_s
        end

        setup { skip House::Browser.missing if House::Browser.missing }

        test "nothing is asked for, nothing goes wrong, nothing is wider than the screen" do
          each_look do |browser, _, width|
            assert_empty browser.requests
            assert_empty browser.complaints
            assert_equal width, browser.evaluate("document.documentElement.scrollWidth")
          end
        end

        test "the answer is on the first screen, at a desk with its chart and its warning" do
          look(self.class.overview, width: 1280, height: 900) do |browser|
            assert_operator bottom(browser, ".answers"), :<, 900
            assert_operator bottom(browser, ".answer .warnings"), :<, 900
            assert_operator browser.evaluate("document.querySelectorAll('.answers p').length"), :==, 3
          end
          look(self.class.overview, width: 390, height: 844) do |browser|
            assert_operator bottom(browser, ".answers"), :<, 844
            assert_operator bottom(browser, ".answers strong"), :<, 500
          end
        end

        test "nothing scrolls sideways, and no table is wider than the page, also where all details are open" do
          [390, 1280].each do |width|
            look(self.class.overview, width: width) do |browser|
              assert_empty browser.evaluate(TOO_WIDE), "at #{width}"
              assert_equal width, browser.evaluate("document.documentElement.scrollWidth")
              widths = browser.evaluate("[...document.querySelectorAll('table')].map(each => each.offsetWidth)")
              assert_operator widths.max, :<=, 1180
            end
          end
        end

        test "on a telephone a row of a table is a card: its name above, each figure in a line with its heading" do
          look(self.class.overview, width: 390) do |browser|
            name, label, value, range = browser.evaluate(<<~JAVASCRIPT)
              (() => {
                const row = [...document.querySelectorAll("tbody tr")].find(each => each.firstChild.textContent == "redis");
                const value = row.children[1];
                return [row.firstChild.getBoundingClientRect().bottom, getComputedStyle(value, "::before").content,
                        value.getBoundingClientRect().toJSON(), value.querySelector(".range").getBoundingClientRect().toJSON()];
              })()
            JAVASCRIPT
            assert_equal "\"page of ten fragments\"", label
            assert_operator name, :<=, value["top"]
            assert_in_delta value["bottom"], range["bottom"], 6
            assert_operator range["right"], :<=, 390
          end
        end

        test "all text of the overview can be read, light and dark, at both widths" do
          SCHEMES.product([390, 1280]).each do |scheme, width|
            look(self.class.overview, scheme: scheme, width: width) do |browser|
              browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
              assert_empty browser.evaluate(FAINT), "#{scheme} at #{width}"
            end
          end
        end

        test "the scheme is the reader's" do
          papers = SCHEMES.map do |scheme|
            look(scheme: scheme) { |browser| browser.evaluate("getComputedStyle(document.body).backgroundColor") }
          end
          assert_equal ["rgb(253, 252, 249)", "rgb(22, 24, 27)"], papers
        end

        test "no text of a chart lies on another one, and no drawing is wider than its place" do
          [self.class.page, self.class.overview].product([360, 500, 800, 1280]).each do |page, width|
            look(page, width: width) do |browser|
              browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
              assert_empty browser.evaluate(COLLISIONS), "at #{width}"
              assert_equal width, browser.evaluate("document.documentElement.scrollWidth")
              plots = browser.evaluate("[...document.querySelectorAll('.plot svg, .lines div > svg')]" \
                                       ".map(svg => svg.clientWidth)")
              assert_operator plots.min, :>, 180
            end
          end
        end

        test "a screen reader hears each chart of lines once, with title and sentence, and no drawing of dots" do
          look do |browser|
            browser.command("Accessibility.enable")
            images = browser.command("Accessibility.getFullAXTree")["nodes"].select { |node| image?(node) }
            assert_equal browser.evaluate("document.querySelectorAll('.lines').length"), images.size
            assert_equal "Time of a read", images.first.dig("name", "value")
            assert_equal "Larder’s p99.9 is 3.8\u00A0µs.", images.first.dig("description", "value")
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

        test "a print has the figures of the charts" do
          look(media: "print", width: 700) do |browser|
            heights = browser.evaluate("[...document.querySelectorAll('details table')].map(each => each.offsetHeight)")
            assert_operator heights.min, :>, 20
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

        def bottom(browser, selector)
          browser.evaluate("document.querySelector('#{selector}').getBoundingClientRect().bottom")
        end

        def look(page = self.class.page, **options)
          with_directory do |dir|
            file = File.join(dir, "report.html")
            File.write(file, page)
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
