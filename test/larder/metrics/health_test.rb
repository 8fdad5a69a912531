# frozen_string_literal: true

require "action_dispatch"
require "support/backplane_case"
require "support/open_processes"
require "larder/metrics"
require "larder/sessions"
require "rack/lint"
require "rack/mock"

module Larder
  class Metrics
    class HealthTest < BackplaneCase
      include OpenProcesses

      teardown { Sessions.use(nil) }

      test "a cache that works is healthy" do
        store.write("a", 1)
        report = Health.check(store)
        assert_equal [true, "#{path_of} has no problems", { status: "healthy", problems: [] }],
                     [report.healthy?, report.to_s, report.to_h]
        assert_predicate Health.check(path_of), :healthy?
        assert_predicate Health.check(listening("m1")), :healthy?
      end

      test "a file that cannot be used is a problem, and is not made" do
        File.write(path_of("file"), "text")
        report = Health.check(path_of("file/none.larder"))
        assert_equal [:file], checks(report)
        FileUtils.ln_s("away", path_of("dangling"))
        report = Health.check(path_of("dangling"))
        assert_equal [:file], checks(report)
        assert_match(/\Athere is no file at #{path_of("dangling")}\. #{path_of("dangling")} is a symbolic/, report.to_s)
        assert_equal %w[dangling file], Dir.children(directory).sort
      end

      test "a cache that was not used yet is not a problem, and is not made" do
        report = Health.check(path_of("none.larder"))
        note = "not used yet: there is no file at #{path_of("none.larder")}: the application creates it at its first " \
               "use"
        assert_equal [true, note, { status: "healthy", problems: [], note: note }],
                     [report.healthy?, report.to_s, report.to_h]
        assert_empty Dir.children(directory)
      end

      test "a remote store that does not answer is a problem, and so are changes that wait for it too long" do
        one = machine("m1", remote: [:redis_cache_store, { url: start("redis").endpoint.fetch("url") }])
        assert(eventually { one.read("none") || one.cache.trusted? })
        assert_predicate Health.check(one), :healthy?
        @servers.last.stop
        one.delete("a")
        assert_equal [:remote], checks(Health.check(one))
        late = Health.check(one, wait: 0)
        assert_equal %i[remote outbox], checks(late)
        assert_match(/\Athe remote store \(ActiveSupport::Cache::RedisCacheStore\) does not answer/, late.to_s)
        assert_match(/has not got all changes of this machine for \d+ seconds, and is not read\z/, late.to_s)
      end

      test "a machine where no process listens any more has a problem" do
        one = listening("m1")
        one.instance_variable_get(:@backplane).stop
        assert_equal [:listener], checks(Health.check(one))
      end

      test "copies that are not trusted are a problem" do
        one = listening("m1")
        halt(@server)
        assert(eventually { !one.cache.trusted? })
        assert_includes checks(Health.check(one)), :copies
      end

      test "more configurations of stores than the file has rows for are a problem" do
        use = lambda do |lives|
          lives.each do |life|
            machine("m1", remote: :memory_store, remote_id: "a", local_expires_in: life).write("k", 1)
          end
        end
        use.call(1..8)
        assert_empty Health.check(path_of("m1.larder")).problems
        use.call(2..8)
        problems = Health.check(path_of("m1.larder")).problems
        assert_equal [:configurations], problems.map(&:check)
        assert_match(/each new one empties it: `larder doctor`/, problems.first.what)
      end

      test "as many processes as the file has room for are a problem" do
        file = path_of("full.larder")
        Cache.open(file, size: 1 << 20).close
        room = Cache.open(file, create: false) { |cache| cache.stats[:process_room] }
        with_processes(room, file) do
          problems = Health.check(file).problems
          assert_equal [:processes], problems.map(&:check)
          assert_match(/\A#{room + 1} processes have the file open, and it has room for #{room}: in others each/,
                       problems.first.what)
        end
        assert_predicate Health.check(file), :healthy?
      end

      test "a file system without room is a problem" do
        store.write("a", 1)
        FileUtils.mkdir(path_of("bin"))
        File.write(path_of("bin/df"), "#!/bin/sh\necho Filesystem\necho /dev/sda1 100 80 20 80% /\n")
        FileUtils.chmod(0o755, path_of("bin/df"))
        path = ENV.fetch("PATH")
        ENV["PATH"] = "#{path_of("bin")}:#{path}"
        left = "the file system of #{path_of} has 20 KiB left: statistics and the journal of remote: may need more"
        assert_equal [[:disk, left]], Health.check(store).problems.map(&:to_a)
      ensure
        ENV["PATH"] = path
      end

      test "sessions without room for sign-ins are a problem" do
        repository = Sessions.repository(file: path_of("s.larder"), size: 1 << 20, ephemeral: true)
        Sessions.use(repository)
        store.write("a", 1)
        repository.begin("k" * 32, { "user_id" => 7 })
        assert_predicate Health.check(store), :healthy?
        fill(repository.backend.cache)
        report = Health.check(store)
        assert_equal [:sessions], checks(report)
        assert_match(/\A\d+ % of the room for signed-in sessions is used, and from 90 % on/, report.to_s)
        assert_includes report.to_s, "`larder resize --keep #{path_of("s.larder")} SIZE`"
        repository.backend.cache.close
        assert_match(/\Athe sessions cannot be read: /, Health.check(store).to_s)
      end

      test "the page answers 200 or 503, and the problems as JSON" do
        store.write("a", 1)
        File.write(path_of("text.larder"), "text")
        caches = [store, path_of("text.larder")]
        healthy, unhealthy = caches.map { |cache| get(Health.new(cache: cache, allow: :route)) }
        assert_equal [200, { "status" => "healthy", "problems" => [] }], [healthy.status, JSON.parse(healthy.body)]
        answer = JSON.parse(unhealthy.body)
        assert_equal [503, "application/json", "unhealthy", ["file"]],
                     [unhealthy.status, unhealthy.headers["content-type"], answer["status"],
                      answer["problems"].map { |problem| problem["check"] }]
        assert_equal 404, get(Health.new(cache: store)).status
        assert_equal 401, get(Health.new(cache: store, password: "a")).status
      end

      test "another store as Rails.cache is a problem that the page names, and an error for the method" do
        Application.stub(:cache, ActiveSupport::Cache::NullStore.new) do
          answer = get(Health.new(allow: :route))
          problem = JSON.parse(answer.body).fetch("problems").first
          assert_equal [503, "store"], [answer.status, problem["check"]]
          assert_match(/\ARails.cache is ActiveSupport::Cache::NullStore, not a Larder store: set/, problem["what"])
          assert_raises(::ArgumentError) { Health.check }
        end
        assert_match(/there is no Rails.cache/, get(Health.new(allow: :route)).body)
      end

      test "a wrong time is an error" do
        error = assert_raises(ArgumentError) { Health.new(cache: store, wait: "1") }
        assert_equal 'wait: "1" must be a number of seconds from 0 on', error.message
        [nil, Time.now, 1i, -1, Float::NAN, :a].each do |wait|
          assert_raises(ArgumentError, wait.inspect) { Health.new(cache: store, wait: wait) }
        end
        assert Health.new(cache: store, wait: 5.minutes)
        assert_raises(ArgumentError) { Health.check(ActiveSupport::Cache::MemoryStore.new) }
      end

      test "a path of any bytes and encoding can be shown on the page" do
        ["\xFF", "\xFF".b, "é".encode("ISO-8859-1")].each do |name|
          answer = get(Health.new(cache: path_of("none").b + name.b, allow: :route))
          assert_match(/not used yet: there is no file at .*none\\x/, JSON.parse(answer.body).fetch("note"))
        end
      end

      test "a request without access does not reach a later route for any path, which would answer 200" do
        routes = ActionDispatch::Routing::RouteSet.new
        pages = [Metrics, Health].map { |page| page.new(cache: store, token: "a") }
        routes.draw do
          pages.each { |page| mount page => "/#{page.class.name.demodulize}" }
          match "*any", to: ->(_) { [200, {}, ["the application"]] }, via: :all
        end
        answers = %w[/Health /Metrics /Health].zip(%w[a b b]).map do |path, token|
          Rack::MockRequest.new(routes).get(path, "HTTP_AUTHORIZATION" => "Bearer #{token}")
        end
        assert_equal [200, 200, 404], answers.map(&:status)
        assert_equal ["the application", "Not Found\n"], answers.drop(1).map(&:body)
      end

      private

      def checks(report)
        report.problems.map(&:check)
      end

      def get(page)
        Rack::MockRequest.new(Rack::Lint.new(page)).get("/")
      end

      def fill(cache)
        (0..).each do |i|
          cache.set("filler#{i}", "x" * 4000, pin: true)
          break if cache.stats.then { |stats| stats[:pinned_bytes].fdiv(stats[:pinned_room_bytes]) } > 0.82
        end
      end
    end
  end
end
