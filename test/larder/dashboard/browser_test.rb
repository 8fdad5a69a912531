# frozen_string_literal: true

require "support/dashboard_browser"

module Larder
  class Dashboard
    # The pages in a browser, with their script and their policy.
    class BrowserTest < DashboardCase
      include DashboardBrowser

      # Puts the longest figures and long names into all cells of tables.
      LONGEST = <<~SCRIPT
        document.querySelectorAll("details").forEach((each) => { each.open = true });
        document.querySelectorAll(".rows tbody td.number").forEach((cell) => {
          (cell.querySelector(".amount") || cell).textContent = ">99 % \u00b1999 % 1,023.9 MiB 9,999,999,999,999";
        });
        document.querySelectorAll(".rows tbody th, .rows tbody td.text").forEach((cell) => {
          (cell.querySelector("a, code") || cell).textContent = "views/products/".repeat(9) + "w".repeat(150);
        });
      SCRIPT

      # Each text of the page, with its colour and that behind it.
      COLOURS = <<~SCRIPT
        [...document.querySelectorAll("main *, header *, footer *")].filter((each) => {
          const texts = [...each.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
          return texts.length && each.checkVisibility() && !each.closest("svg");
        }).map((each) => {
          let behind = each;
          const background = (element) => getComputedStyle(element).backgroundColor;
          while (behind.parentElement && background(behind) === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
          return [each.textContent, getComputedStyle(each).color, background(behind)];
        })
      SCRIPT

      test "no page asks another host, breaks its policy or has an element that is wider than its window" do
        serve_all do
          every_page.each do |path|
            [1280, 390, 320].each do |width|
              visit(path, width: width)
              assert_fits(width, path)
              @browser.requests.each { |url| assert url.start_with?(@address), url }
            end
          end
        end
      end

      test "long names of keys, machines and users are on their pages" do
        serve_all do
          ["computations", "machines", "sessions?online=300", "sessions/user?user=#{LONG[0, 200]}"].each do |path|
            visit(path)
            assert_includes @browser.evaluate("document.querySelector('main').textContent"), "ongong", path
          end
        end
      end

      test "tables with the longest figures and names fit into narrow windows" do
        serve_all do
          every_page.each do |path|
            [390, 320].each do |width|
              visit(path, width: width)
              @browser.evaluate(LONGEST)
              assert_fits(width, path)
            end
          end
        end
      end

      test "a session is ended by its form" do
        sessions = ::Larder::Sessions.repository(file: path_of("sessions"), size: 1 << 20, ephemeral: true)
        ::Larder::Sessions.use(sessions)
        sessions.begin("k" * 32, { "user_id" => 7 })
        visit("sessions/end?user=7")
        @browser.follow { @browser.evaluate("document.querySelector('form button').click()") }
        assert_equal "1 session was ended", @browser.evaluate("document.querySelector('h1').textContent")
        refute ::Larder::Sessions.logged_in?(7)
      end

      test "a table is sorted by its headings" do
        visit("keys?pattern=users/")
        sizes = "[...document.querySelectorAll('table tbody tr')].map((row) => row.children[1].textContent)"
        @browser.evaluate("document.querySelectorAll('thead button')[1].click()")
        assert_equal Array.new(10) { |i| (10 - i) * 100 }.map { |size| Inspection::Brief.bytes(size) },
                     @browser.evaluate(sizes)
        assert_equal "descending", @browser.evaluate("document.querySelectorAll('thead th')[1].ariaSort")
        @browser.evaluate("document.querySelectorAll('thead button')[1].click()")
        assert_equal "100B", @browser.evaluate(sizes).first
      end

      test "columns of times, spans and sizes are sorted by what they mean" do
        script = <<~SCRIPT
          (() => {
            const rows = [["10m ago", "3h50m", "100"], ["2m ago", "3h12m", "600"]];
            const table = document.querySelector("table.rows");
            table.tBodies[0].replaceChildren(...rows.map(([ago, span, sort]) => {
              const row = table.insertRow();
              [ago, span].forEach((text) => { row.insertCell().textContent = text; });
              row.cells[0].dataset.sort = sort;
              return row;
            }));
          })()
        SCRIPT
        visit("keys?pattern=users/")
        @browser.evaluate(script)
        first = "document.querySelector('table.rows tbody tr').textContent"
        ["2m ago3h12m", "10m ago3h50m", "10m ago3h50m", "2m ago3h12m"].zip([0, 0, 1, 1]) do |shown, column|
          @browser.evaluate("document.querySelectorAll('thead button')[#{column}].click()")
          assert_equal shown, @browser.evaluate(first)
        end
      end

      test "the figures are read again while that is wanted" do
        visit
        @browser.evaluate("document.getElementById('live').dataset.refresh = 0.1")
        cache.set("one more", "1")
        items = "document.querySelector('.figures').textContent.match(/(\\d+) items/)[1]"
        assert_equal "12", @browser.evaluate(items)
        @browser.evaluate("document.querySelector('button.live').click()")
        assert(eventually { @browser.evaluate(items) == "13" })
        @browser.evaluate("document.querySelector('button.live').click()")
        assert_equal "false", @browser.evaluate("document.querySelector('button.live').ariaPressed")
        assert_empty @browser.complaints
      end

      test "a key is deleted by its form, and the browser says that it is from here" do
        visit("delete?key=users/3")
        @browser.follow { @browser.evaluate("document.querySelector('form button').click()") }
        assert_equal "The key was deleted", @browser.evaluate("document.querySelector('h1').textContent")
        refute cache.exist?("users/3")
      end

      test "texts can be read: colours have enough contrast in both schemes" do
        ["light", "dark"].each do |scheme|
          visit("", scheme: scheme)
          pairs = @browser.evaluate(COLOURS)
          assert_operator pairs.size, :>, 20
          pairs.each { |text, front, back| assert_operator contrast(front, back), :>=, 4.5, "#{text} #{scheme}" }
        end
      end

      private

      def contrast(*colours)
        light, dark = colours.map { |colour| luminance(colour.scan(/\d+/).first(3).map(&:to_i)) }.sort.reverse
        (light + 0.05) / (dark + 0.05)
      end

      # The relative luminance of WCAG 2.
      def luminance(rgb)
        parts = rgb.map { |part| part / 255.0 }
        red, green, blue = parts.map { |part| part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055)**2.4 }
        (0.2126 * red) + (0.7152 * green) + (0.0722 * blue)
      end
    end
  end
end
