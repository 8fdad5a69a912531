# frozen_string_literal: true

require "support/store_case"
require "larder/metrics"
require "larder/sessions"
require "rack/lint"
require "rack/mock"
require "support/exposition"

module Larder
  class MetricsTest < StoreCase
    test "a wrong option is named with all that are known, and a path that names no file" do
      { { foo: 1 } => "unknown option :foo; known: cache:, allow:, password:, token:",
        { cache: "" } => 'cache: the path "" is empty; name a file',
        { cache: " " } => 'cache: the path " " is empty; name a file' }.each do |given, message|
        assert_equal message, assert_raises(::ArgumentError) { Metrics.new(**given) }.message
      end
      error = assert_raises(::ArgumentError) { Metrics::Health.new(foo: 1) }
      assert_equal "unknown option :foo; known: cache:, wait:, allow:, password:, token:", error.message
    end

    test "a scrape has the counts of all processes" do
      store.write("products/1", 1)
      in_child { new_store.read("products/1") }
      2.times { store.read("products/2") }
      found = scrape(store)
      assert_equal([1, 1, 2, 1, SIZE],
                   %w[up hits_total misses_total stores_total size_bytes].map { |name| found["larder_#{name}"] })
      assert_equal 1, found["larder_build_info", { "version" => VERSION }]
    end

    test "a file and its store have the same counts" do
      store.write("a", 1)
      store.read("a")
      same = %w[hits_total stores_total items used_bytes]
      one, two = [store, path_of].map { |subject| scrape(subject) }
      assert_equal(same.map { |name| one["larder_#{name}"] }, same.map { |name| two["larder_#{name}"] })
      assert_operator one["larder_stores_total"], :>, 0
    end

    test "a file that cannot be used is down, and has no other metrics" do
      File.write(path_of("text.larder"), "text")
      assert_equal({ "larder_up" => 0 }, all(path_of("text.larder")))
      assert_equal({ "larder_up" => 0 }, all(store.tap { |made| made.cache.close }))
      assert_equal ["test.larder", "test.larder.lock", "test.larder.stats", "text.larder"], Dir.children(directory).sort
    end

    test "a cache that was not used yet is not down, unless its file cannot be made" do
      server = { remote: [:redis_cache_store, { url: "redis://127.0.0.1:1" }], backplane: "redis://127.0.0.1:1" }
      unused, remote = [{}, server].map do |options|
        ActiveSupport::Cache.lookup_store(:larder_store, path_of("none.larder"), { size: SIZE, **options })
      end
      [path_of("none.larder"), unused, remote].each do |subject|
        found = scrape(subject)
        assert_equal [%w[larder_up larder_build_info], 1], [found.names.grep_v(/remote/), found["larder_up"]]
      end
      assert_equal [:remote], Metrics::Health.check(remote).problems.map(&:check)
      assert_empty Dir.children(directory)
      File.write(path_of("file"), "text")
      File.symlink("away", path_of("dangling"))
      %w[file/none.larder dangling].each { |name| assert_equal({ "larder_up" => 0 }, all(path_of(name))) }
    end

    test "the age of the file begins again if the file was overwritten" do
      path = path_of("zeroed.larder")
      cache = ActiveSupport::Cache.lookup_store(:larder_store, path, size: SIZE)
      cache.write("a", 1)
      sleep 0.3
      assert_includes 0.3..60.0, before = scrape(cache)["larder_age_seconds"]
      File.write(path, "\0" * SIZE, mode: "r+")
      assert_nil cache.read("a")
      assert cache.write("a", 2)
      assert_operator scrape(cache)["larder_age_seconds"], :<, before
    end

    test "a cache that has no room for its file is down, before its first use and after it" do
      cache = ActiveSupport::Cache.lookup_store(:larder_store, path_of("large.larder"), size: "900GB")
      2.times do
        assert_equal({ "larder_up" => 0 }, all(cache))
        report = Metrics::Health.check(cache)
        assert_equal [:file], report.problems.map(&:check)
        assert_match(/takes 921600|No space left/, report.to_s)
        assert_no_match(/key of a call/, report.to_s)
        assert_nil cache.write("key of a call", 1)
      end
    end

    test "a cache whose process may not write a file of its size is down" do
      up = in_child do
        Process.setrlimit(:FSIZE, SIZE / 2)
        scrape(ActiveSupport::Cache.lookup_store(:larder_store, path_of("limited.larder"), size: SIZE))["larder_up"]
      end
      assert_equal 0, up
    end

    test "sessions have metrics also if the cache cannot be used" do
      repository = Sessions.repository(file: path_of("s.larder"), size: 4 << 20, ephemeral: true)
      Sessions.use(repository)
      repository.begin("k" * 32, { "user_id" => 7 })
      File.write(path_of("text.larder"), "text")
      down = scrape(path_of("text.larder"))
      assert_equal [0, 1, nil], %w[up sessions_signed_in items].map { |name| down["larder_#{name}"] }
      assert_equal [1, 1], %w[up sessions_signed_in].map { |name| scrape(path_of("none.larder"))["larder_#{name}"] }
      Application.stub(:cache, ActiveSupport::Cache::NullStore.new) do
        assert_equal 1, scrape(nil)["larder_sessions_signed_in"]
      end
    ensure
      Sessions.use(nil)
    end

    test "another store as Rails.cache is down on the page, which names it, and an error for the method" do
      Application.stub(:cache, ActiveSupport::Cache::NullStore.new) do
        page = Metrics.new(allow: :route)
        status, _, body = page.call("REQUEST_METHOD" => "GET")
        found = Exposition.new(body.first)
        assert_equal [200, ["larder_up"], 0], [status, found.names, found["larder_up"]]
        assert_match(/^# HELP larder_up 0: Rails.cache is ActiveSupport::Cache::NullStore, not a Larder/, body.first)
        error = assert_raises(::ArgumentError) { Metrics.text }
        assert_match(/\ARails.cache is ActiveSupport::Cache::NullStore, not a Larder store: set/, error.message)
      end
      body = Metrics.new(allow: :route).call("REQUEST_METHOD" => "GET").last.first
      assert_match(/^# HELP larder_up 0: there is no Rails.cache/, body)
    end

    test "a count begins again with a new file" do
      store.write("a", 1)
      store.read("a")
      page = Metrics.new(cache: store, allow: :route)
      before = read(page)["larder_hits_total"]
      File.truncate(path_of, 0)
      store.read("a")
      assert_equal [1, 0], [before, read(page)["larder_hits_total"]]
    end

    # Prometheus takes a lower count for one that began again at 0.
    test "no count falls when a process is killed" do
      store.write("a", 1)
      counts = Array.new(10) do
        reader, writer = IO.pipe
        pid = fork { loop { new_store.tap { |one| 2000.times { one.read("a") } } && writer.write("x") } }
        reader.read(1)
        living = scrape(store)["larder_hits_total"]
        Process.kill(:KILL, pid)
        Process.wait(pid)
        [living, scrape(store)["larder_hits_total"]]
      end
      assert_equal counts.flatten.sort, counts.flatten
      assert_operator counts.last.last, :>, 20_000
    end

    test "the page keeps the rules of Rack" do
      page = Rack::MockRequest.new(Rack::Lint.new(Metrics.new(cache: store, allow: :route)))
      get, head, post = [page.get("/metrics"), page.head("/metrics"), page.post("/metrics")]
      assert_equal [200, "text/plain; version=0.0.4; charset=utf-8", "no-store"],
                   [get.status, *get.headers.values_at("content-type", "cache-control")]
      assert_equal [200, ""], [head.status, head.body]
      assert_equal [405, "GET, HEAD"], [post.status, post.headers["allow"]]
      open = page.get("/metrics", "HTTP_ACCEPT" => "application/openmetrics-text;version=1.0.0")
      assert_equal "application/openmetrics-text; version=1.0.0; charset=utf-8", open.headers["content-type"]
      assert Exposition.new(open.body.force_encoding("UTF-8"), open: true)["larder_up"]
    end

    test "a page that is not opened is not there, and a password is asked for" do
      closed, token, password = [{}, { token: "a" }, { password: "b" }].map do |options|
        Rack::MockRequest.new(Rack::Lint.new(Metrics.new(cache: store, **options)))
      end
      [closed, token].map { |page| page.get("/") }.each do |answer|
        assert_equal [404, "Not Found\n", "pass"], [answer.status, answer.body, answer.headers["x-cascade"]]
      end
      asked = password.get("/")
      assert_equal [401, 'Basic realm="Larder", charset="UTF-8"'], [asked.status, asked.headers["www-authenticate"]]
      assert_equal 200, token.get("/", "HTTP_AUTHORIZATION" => "Bearer a").status
      assert_equal 404, Metrics.call("REQUEST_METHOD" => "GET").first
    end

    test "a format that is not known is refused" do
      error = assert_raises(ArgumentError) { Metrics.text(store, format: :json) }
      assert_equal "unknown format :json; known: :prometheus, :openmetrics", error.message
    end

    test "every statistic of the file is a metric, or follows from others" do
      left_out = %i[hit_ratio hints_shared configurations_full_age]
      assert_equal store.cache.stats.keys.sort, (Metrics::Catalogue.of_file.map(&:statistic) + left_out).sort
    end

    private

    def scrape(subject)
      read(Metrics.new(cache: subject, allow: :route))
    end

    def read(page)
      Exposition.new(page.call("REQUEST_METHOD" => "GET").last.first)
    end

    def all(subject)
      found = scrape(subject)
      found.names.to_h { |name| [name, found[name]] }
    end
  end
end
