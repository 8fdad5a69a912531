# frozen_string_literal: true

# The dashboard in a browser: pages with something in every part of them, at a server of their own.

require "active_support/cache/larder_store"
require "support/dashboard_case"
require "puma"
require "puma/server"
require "socket"
require_relative "../../rakelib/house/browser"

# For a DashboardCase: `@browser`, `visit`, and a filled cache that is served.
module DashboardBrowser
  include Processes

  LONG = "ong" * 80
  # Elements that end outside of the window. Those that can be scrolled, and those for screen readers, may.
  TOO_WIDE = <<~SCRIPT
    [...document.body.querySelectorAll("*")].filter((each) => {
      const box = each.getBoundingClientRect();
      return each.checkVisibility() && (box.right > WIDTH + 0.5 || box.left < -0.5) &&
        !each.closest(".unseen, .skip, .value, .whole");
    }).map((each) => `${each.tagName} ${each.className}: ${each.textContent.slice(0, 60)}`)
  SCRIPT
  private_constant :TOO_WIDE

  def self.included(base)
    base.setup do
      skip House::Browser.missing if House::Browser.missing
      fill
      serve(cache: path_of)
      @browser = House::Browser.start
    end
    base.teardown do
      @browser&.close
      @server&.stop(true)
    end
  end

  def path_of(name = "browser.larder")
    super
  end

  def serve(**options)
    @server&.stop(true)
    port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
    @server = Puma::Server.new(mounted(Larder::Dashboard.new(**options)))
    @server.add_tcp_listener("127.0.0.1", port)
    @server.run
    @address = "http://127.0.0.1:#{port}/larder/"
  end

  def fill
    @cache = open_cache("browser.larder", statistics: true)
    cache.set("#{DashboardCase::HOSTILE}/1", DashboardCase::HOSTILE)
    cache.set("l/#{"ong" * 1300}", "1")
    10.times { |i| cache.get("users/#{i}") || cache.set("users/#{i}", "v" * (i + 1) * 100) }
    cache.keep_statistics
  end

  # A store with other machines, sessions and a value that is being computed, while the block runs.
  def serve_all
    shared = ActiveSupport::Cache::MemoryStore.new
    store, other = [path_of, path_of("o#{LONG}"[0, 200])].map { |path| store_at(path, shared) }
    other.level.roster.publish
    sessions = ::Larder::Sessions.repository(file: path_of("sessions"), size: 1 << 20, ephemeral: true)
    ::Larder::Sessions.use(sessions)
    sessions.begin("k" * 32, { "user_id" => LONG[0, 200], "agent" => LONG * 3 })
    serve(cache: store, values: true)
    store.fetch("l#{LONG}", single_flight: true) { yield || 1 }
  end

  # Each page, each with content and without.
  def every_page
    user = LONG[0, 200]
    Larder::Dashboard::Pages::TABLE.map { |row| "#{row.path}?key=users/1" } +
      ["clear?by=prefix&text=users/", "clear?by=all", "keys?sort=size", "keys?pattern=absent*",
       "entry?key=#{Rack::Utils.escape("l/#{"ong" * 1300}")}", "entry?key=#{Rack::Utils.escape("absent#{LONG}")}",
       "sessions?online=300", "sessions/user?user=#{user}", "sessions/end?user=#{user}"]
  end

  def visit(path = "", **options)
    @browser.visit("#{@address}#{path}", **options)
    assert_empty @browser.complaints.grep_v(/status of 404/), path
  end

  def assert_fits(width, path)
    assert_empty @browser.evaluate(TOO_WIDE.sub("WIDTH", width.to_s)), "#{path} at #{width}"
    assert_operator @browser.evaluate("document.documentElement.scrollWidth"), :<=, width, path
  end

  private

  def store_at(path, remote)
    store = ActiveSupport::Cache::LarderStore.new(path, remote: remote, error_handler: nil)
    store.tap { store.cache.size }
  end
end
