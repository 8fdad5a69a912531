# frozen_string_literal: true

require "support/backplane_case"
require "larder/metrics"
require "rack/builder"
require "rack/mock"
require "socket"

module House
  # The guide to metrics: it has all of them, its programs run, and its ways to see alerts fire work.
  class MetricsGuideTest < BackplaneCase
    ROOT = File.expand_path("../..", __dir__)
    TEXT = File.read(File.join(ROOT, "docs/guides/metrics.md"), encoding: "UTF-8")
    RUBY = TEXT.scan(/^```ruby\n(.*?)^```/m).flatten

    test "the table has all metrics, and no other" do
      lines = TEXT[/^## What the metrics mean$(.*?)^## /m, 1].lines
      rows = lines.grep(/\A\| `larder/).map { |row| row.split(" | ").first }
      assert_equal Larder::Metrics::Catalogue::ALL.map(&:name).sort, rows.join.scan(/`(\w+)`/).flatten.sort
    end

    test "its queries name metrics that are there" do
      named = TEXT.scan(/\blarder_[a-z]\w+/).uniq - ["larder_store"]
      assert_empty named - Larder::Metrics::Catalogue::ALL.map(&:name)
    end

    test "the table of health has all checks" do
      table = TEXT[/^\| check \| problem \|$(.*?)^$/m, 1].scan(/^\| `(\w+)` \|/).flatten
      assert_equal %w[store file disk processes configurations remote outbox listener copies sessions], table
    end

    test "there is a program for each system" do
      kinds = [/Metrics\.new\(token/, /map\("/, /Health/, /OpenTelemetry/, /Yabeda/, /UDPSocket/]
      assert_equal kinds.size, RUBY.size
      assert_empty kinds.reject { |kind| RUBY.one?(kind) }
    end

    test "StatsD receives all metrics" do
      server = UDPSocket.new.tap { |socket| socket.bind("127.0.0.1", 0) }
      store.write("a b/1", 1)
      store.cache.keep_statistics
      program = RUBY.find { |block| block.include?("UDPSocket") }
      program = program.sub("8125", server.addr[1].to_s).gsub("Rails.cache", path_of.inspect)
      pid = Process.spawn(RbConfig.ruby, "-I#{ROOT}/lib", "-e", "#{program}\nsleep", in: File::NULL)
      lines = []
      lines.concat(server.recv(65_536).split("\n")) until lines.grep(/\Alarder_outbox|hour_saved/).any?
      assert_includes lines, "larder_up:1|g"
      assert_includes lines, "larder_keyspace_stores_total.a_b:1|g"
      assert_empty lines.grep_v(/\A[\w.()-]+:[\d.e-]+\|g\z/)
    ensure
      Process.kill(:KILL, pid) && Process.wait(pid)
      server.close
    end

    test "the page of a config.ru runs" do
      program = RUBY.find { |block| block.include?("map(") }
      ENV["LARDER_METRICS_TOKEN"] = "secret"
      page = Rack::Builder.new { instance_eval(program) }.to_app
      answers = ["Bearer secret", "Bearer other"].map do |given|
        Rack::MockRequest.new(page).get("/metrics", "HTTP_AUTHORIZATION" => given).then { |one| [one.status, one.body] }
      end
      assert_equal [200, 404], answers.map(&:first)
      assert_match(/^larder_up 1$/, answers.first.last)
    ensure
      ENV.delete("LARDER_METRICS_TOKEN")
    end

    test "another file in the place of the cache is one that is down" do
      File.write(path_of("cache.larder"), "text\n")
      assert_equal 0, value(path_of("cache.larder"), "larder_up")
    end

    test "stores without room for pinned items are refused" do
      one = new_store("full.larder", size: 1 << 20)
      program = TEXT[/`(400\.times .*?)` in a console/, 1].gsub("Rails.cache", "one")
      require "securerandom"
      before = value(one, "larder_refused_total")
      one.then { binding.eval(program) } # rubocop:disable Security/Eval -- the guide's own
      assert_operator value(one, "larder_refused_total") - before, :>, 10
    end

    test "bytes that were changed from outside are damage" do
      store.write("a", "a text that is in the file" * 10)
      store.read("a")
      at = File.binread(path_of).index("a text that is in the file")
      File.open(path_of, "r+b") { |file| file.seek(at) && file.write("A") }
      assert_nil store.read("a")
      assert_equal 1, value(store, "larder_damaged_total")
    end

    test "a remote store that is stopped has not got a delete" do
      one = machine("m1", remote: [:redis_cache_store, { url: backplane }])
      assert(eventually { one.read("none") || one.cache.trusted? })
      assert_equal([0, 1, 1], %w[waiting trusted listener].map { |name| value(one, "larder_remote_#{name}") })
      @server.stop
      one.delete("a")
      assert_equal 1, value(one, "larder_remote_waiting")
    end

    test "a backplane that is stopped ends trust, while the remote store answers" do
      one = listening("m1")
      @server.stop
      assert(eventually { value(one, "larder_remote_trusted").zero? })
      assert_equal 1, value(one, "larder_remote_listener")
    end

    slow_test "a journal of 60,000 changes has overflown" do
      one = machine("m1", remote: [:redis_cache_store, { url: "redis://127.0.0.1:1" }], backplane: nil)
      60_000.times { |i| one.delete("key #{i}") }
      assert_equal 1, value(one, "larder_outbox_overflown")
    end

    private

    def machine(name, **options)
      options[:backplane] || !options.key?(:backplane) ? super : new_store("#{name}.larder", **options.compact)
    end

    def value(subject, name)
      Larder::Metrics.read(subject).find { |family| family.name == name }.samples.first.value
    end
  end
end
