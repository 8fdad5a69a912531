# frozen_string_literal: true

require "active_support/cache/larder_store"
require "support/dashboard_case"
require "puma"
require "puma/server"
require "socket"
require_relative "../../../rakelib/house/browser"

module Larder
  class Dashboard
    # The pages in a browser, with their script and their policy.
    class BrowserTest < DashboardCase
      include Processes

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

      setup do
        skip House::Browser.missing if House::Browser.missing
        fill
        serve(cache: path_of)
        @browser = House::Browser.start
      end

      teardown do
        @browser&.close
        @server&.stop(true)
      end

      def serve(**options)
        @server&.stop(true)
        port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
        @server = Puma::Server.new(mounted(Dashboard.new(**options)))
        @server.add_tcp_listener("127.0.0.1", port)
        @server.run
        @address = "http://127.0.0.1:#{port}/larder/"
      end

      def fill
        @cache = open_cache("browser.larder", statistics: true)
        cache.set("#{HOSTILE}/1", HOSTILE)
        cache.set("l/#{"ong" * 1300}", "1")
        10.times { |i| cache.get("users/#{i}") || cache.set("users/#{i}", "v" * (i + 1) * 100) }
        cache.keep_statistics
      end

      def store_at(path, remote)
        store = ActiveSupport::Cache::LarderStore.new(path, remote: remote, error_handler: nil)
        store.tap { store.cache.size }
      end

      def path_of(name = "browser.larder")
        super
      end

      def visit(path = "", **options)
        @browser.visit("#{@address}#{path}", **options)
        assert_empty @browser.complaints, path
      end

      test "no page asks another host, breaks its policy or is wider than its window" do
        (Pages::TABLE.map do |row|
          "#{row.path}?key=users/1"
        end + ["clear?by=prefix&text=users/", "keys?sort=size"]).each do |path|
          [1280, 390].each do |width|
            ["light", "dark"].each do |scheme|
              visit(path, width: width, scheme: scheme)
              assert_operator @browser.evaluate("document.documentElement.scrollWidth"), :<=, width, path
              @browser.requests.each { |url| assert url.start_with?(@address), url }
            end
          end
        end
      end

      test "long names of keys, machines and users are not wider than the window" do
        name = "ong" * 80
        shared = ActiveSupport::Cache::MemoryStore.new
        store, other = [path_of("a"), path_of("o#{name}"[0, 200])].map { |path| store_at(path, shared) }
        other.level.roster.publish
        sessions = ::Larder::Sessions.repository(file: path_of("sessions"), size: 1 << 20, ephemeral: true)
        ::Larder::Sessions.use(sessions)
        sessions.begin("k" * 32, { "user_id" => name[0, 200], "agent" => name * 3 })
        serve(cache: store)
        store.fetch("l#{name}", single_flight: true) do
          ["computations", "machines", "sessions?online=300", "sessions/user?user=#{name[0, 200]}"].each do |path|
            [1280, 390].each do |width|
              visit(path, width: width)
              assert_operator @browser.evaluate("document.documentElement.scrollWidth"), :<=, width, path
              assert_includes @browser.evaluate("document.querySelector('main').textContent"), "ongong", path
            end
          end
          1
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
