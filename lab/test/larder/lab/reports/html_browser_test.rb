# frozen_string_literal: true

require "test_helper"
require_relative "../../../../../rakelib/house/browser"

module Larder
  module Lab
    module Reports
      # Pages in a real browser: a rich one, and one that begins with an answer.
      class HtmlBrowserTest < ActiveSupport::TestCase
        OPENED = "document.querySelectorAll('details').forEach(each => each.open = true)"
        # Pairs of texts of a drawing that lie on each other.
        COLLISIONS = <<~JAVASCRIPT
          [...document.querySelectorAll("figure svg")].flatMap(svg => {
            const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
            return texts.flatMap(([one, a], index) => texts.slice(index + 1).filter(([_, b]) =>
              a.left + 1 < b.right && b.left + 1 < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom
            ).map(([other]) => `${one} | ${other}`));
          })
        JAVASCRIPT
        # Cells and boxes whose contents are wider than their room.
        TOO_WIDE = <<~JAVASCRIPT
          [...document.querySelectorAll(".scroll, pre, td:not(.plot), dd, th")].filter(box => box.scrollWidth > box.clientWidth + 1 &&
            getComputedStyle(box).display != "inline").map(box => box.textContent.slice(0, 60));
        JAVASCRIPT
        # Texts whose contrast is below 4.5 and lines whose contrast is below 3, as WCAG's AA asks for: [text, ratio].
        FAINT = <<~JAVASCRIPT
          (() => {
            const parts = color => color.match(/[\\d.]+/g).map(Number);
            const luminance = color => parts(color).slice(0, 3).map(c => c / 255)
              .map(c => c > 0.04045 ? ((c + 0.055) / 1.055) ** 2.4 : c / 12.92)
              .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const behind = box => { const color = getComputedStyle(box).backgroundColor;
              return parts(color)[3] === 0 ? behind(box.parentElement) : color; };
            const faint = (selector, property, least) => [...document.querySelectorAll(selector)]
              .filter(box => box.getClientRects().length).map(box => {
                const [one, other] = [getComputedStyle(box)[property], behind(box)].map(luminance).sort((a, b) => b - a);
                return [box.textContent.slice(0, 40) || box.className.baseVal, (one + 0.05) / (other + 0.05)];
              }).filter(([_, ratio]) => ratio < least);
            return [...faint("h1, h2, h3, dt, dd, strong, th, td, p, li, small, summary, code, a", "color", 4.5),
                    ...faint("text", "fill", 4.5), ...faint("path, .interval", "stroke", 3), ...faint("circle", "fill", 3)];
          })()
        JAVASCRIPT

        # One for all tests, because it takes seconds to start.
        def self.browser
          @browser ||= House::Browser.start.tap { |browser| Minitest.after_run { browser.close } }
        end

        def self.rich = @rich ||= Html.new(SampleDocument.build(chapters: 2)).to_s

        def self.overview = @overview ||= Html.new(SimulatedRuns.overview(busy: 9.0)).to_s

        setup { skip House::Browser.missing if House::Browser.missing }

        test "nothing is asked for, goes wrong, or is wider than its place, and all can be read, light and dark" do
          papers = { "light" => "rgb(253, 252, 249)", "dark" => "rgb(22, 24, 27)" }
          [self.class.rich, self.class.overview].product(papers.keys, [360, 800, 1280]) do |page, scheme, width|
            look(page, scheme: scheme, width: width) do |browser|
              assert_equal papers[scheme], browser.evaluate("getComputedStyle(document.body).backgroundColor")
              assert_empty browser.requests
              assert_empty browser.complaints
              browser.evaluate(OPENED)
              [COLLISIONS, FAINT, *(TOO_WIDE unless width == 800)].each do |faults|
                assert_empty browser.evaluate(faults), "#{scheme}, #{width}"
              end
              assert_equal width, browser.evaluate("document.documentElement.scrollWidth")
              assert_operator widths(browser, "table").max, :<=, 1180
              assert_operator widths(browser, ".plot svg, .lines div > svg").min, :>, 180
            end
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

        test "a screen reader hears each chart of lines once, with title and sentence, and no drawing of dots" do
          look do |browser|
            browser.command("Accessibility.enable")
            images = browser.command("Accessibility.getFullAXTree")["nodes"].select do |node|
              ["image", "img"].include?(node.dig("role", "value")) && !node["ignored"]
            end
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

        private

        def bottom(browser, selector)
          browser.evaluate("document.querySelector('#{selector}').getBoundingClientRect().bottom")
        end

        def widths(browser, selector)
          browser.evaluate("[...document.querySelectorAll('#{selector}')]" \
                           ".map(each => each.getBoundingClientRect().width)")
        end

        def look(page = self.class.rich, **options)
          with_directory do |dir|
            file = File.join(dir, "report.html")
            File.write(file, page)
            self.class.browser.visit(file, **options)
            yield self.class.browser
          end
        end
      end
    end
  end
end
