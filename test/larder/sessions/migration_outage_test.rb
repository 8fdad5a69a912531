# frozen_string_literal: true

require "test_helper"
require "action_dispatch"
require "active_record"
require "active_support/cache/larder_store"
require "activerecord/session_store"
require "rack/mock"
require "rack/session/larder"
require "support/reported_errors"
require "support/servers"

module Larder
  module Sessions
    # An application that changes over to Larder while its former store does not answer: a server is killed or stopped,
    # a file cannot be opened, a table is not there. The store cannot tell whether there is a session.
    module MigrationOutageTests
      include ReportedErrors
      include TemporaryCaches
      include Processes

      ID = Rack::Session::SessionId.new("0" * 32)
      COOKIE = "rack.session=#{ID.public_id}".freeze
      VALUES = { "user_id" => 7 }.freeze
      # Actions of the application, by the path.
      DOES = {
        "/who"      => ->(session) { session["user_id"] },
        "/visit"    => ->(session) { session["seen"] = 1 },
        "/sign_out" => ->(session) { session.destroy && nil },
        "/clear"    => ->(session) { session.clear && nil }
      }.freeze
      private_constant :ID, :COOKIE, :VALUES, :DOES

      def setup
        super
        prepare
        @application = Rack::Session::Larder.new(method(:respond), file: path_of("sessions.larder"), size: 1 << 20,
                                                                   ephemeral: true, migrate_from: former)
      end

      def teardown
        heal
        @server&.stop
        super
      end

      def test_nobody_is_signed_out_while_the_former_store_does_not_answer
        fill
        reports = reported do
          fail_now
          DOES.each_key do |path|
            answer = get(path, COOKIE)
            assert_equal [503, "1", nil], [answer.status, answer["retry-after"], answer["set-cookie"]], path
          end
        end
        assert_match(/\Athe store of migrate_from: cannot tell which sessions there are/, reports.first.message)
        heal
        assert(eventually { (answer = get("/who", COOKIE)).status == 200 && (assert_equal "7", answer.body) })
      end

      def test_requests_that_do_not_need_the_former_store_are_served
        fill
        moved = cookie_of(get("/who", COOKIE))
        reported do
          fail_now
          assert_equal [200, "7"], get("/who", moved).then { |answer| [answer.status, answer.body] }
          assert_equal 200, get("/visit").status
          assert_equal "7", get("/who", COOKIE).body, "the former cookie, for a minute"
        end
      end

      def test_a_session_is_moved_if_the_former_store_cannot_delete_it
        fill
        source = @application.instance_variable_get(:@migration).instance_variable_get(:@source)
        test = self
        source.define_singleton_method(:delete) { |*all| test.send(:fail_now) && super(*all) }
        reports = reported do
          first = get("/who", COOKIE)
          assert_equal [200, "7"], [first.status, first.body]
        end
        assert_match(/is still in the store of migrate_from:/, reports.first.message) unless silent?
        moved = get("/who", COOKIE)
        assert_equal "7", moved.body
      end

      private

      # @return [Boolean] true if the store hides that it has not deleted a session
      def silent?
        false
      end

      def get(path, cookie = nil)
        Rack::MockRequest.new(@application).get(path, { "HTTP_COOKIE" => cookie }.compact)
      end

      def cookie_of(answer)
        Array(answer["set-cookie"]).join[/\A[^;]+/]
      end

      def respond(env)
        [200, {}, [DOES.fetch(env["PATH_INFO"]).call(env["rack.session"]).to_s]]
      end

      # Stores the session as CacheStore does.
      def fill
        @store.write("_session_id:#{ID.private_id}", VALUES)
      end

      def former
        [:cache_store, { cache: @store }]
      end

      def start(name)
        type = Larder::Lab::Servers.fetch(name)
        skip "#{name} is not installed" unless type.path

        @server = type.new(directory).tap(&:start)
        @server.endpoint["url"]
      end

      # Kills the server.
      def fail_now
        TestServers.kill(@server)
        @failed = true
      end

      def heal
        return unless @failed

        @failed = false
        @server.start
        fill
      end
    end

    class MigrationKilledRedisTest < ActiveSupport::TestCase
      include MigrationOutageTests

      def prepare
        @store = ActiveSupport::Cache.lookup_store(:redis_cache_store, url: start("redis"), reconnect_attempts: 0)
      end

      test "the store of the application stays as it is" do
        fail_now
        assert_nil @store.read("anything")
      end
    end

    class MigrationStoppedRedisTest < ActiveSupport::TestCase
      include MigrationOutageTests

      def prepare
        @store = ActiveSupport::Cache.lookup_store(:redis_cache_store, url: start("redis"), reconnect_attempts: 0,
                                                                       read_timeout: 0.2)
      end

      def fail_now
        @failed = true
        Process.kill(:STOP, @server.pid)
      end

      def heal
        Process.kill(:CONT, @server.pid) if @failed
        @failed = false
      end
    end

    class MigrationKilledMemcachedTest < ActiveSupport::TestCase
      include MigrationOutageTests

      def prepare
        @store = ActiveSupport::Cache.lookup_store(:mem_cache_store, start("memcached"),
                                                   { protocol: :meta, down_retry_delay: 0 })
      end
    end

    class MigrationKilledDalliTest < ActiveSupport::TestCase
      include MigrationOutageTests

      def prepare
        @url = start("memcached")
      end

      def former
        [:mem_cache_store, { memcache_server: @url, protocol: :meta, down_retry_delay: 0 }]
      end

      def fill
        client = Dalli::Client.new(@url, protocol: :meta, namespace: "rack:session")
        client.set(ID.private_id, VALUES)
        client.close
      end

      # Dalli's middleware.
      def silent?
        true
      end
    end

    class MigrationTwoLevelsTest < ActiveSupport::TestCase
      include MigrationOutageTests

      def prepare
        remote = [:redis_cache_store, { url: start("redis"), reconnect_attempts: 0 }]
        @store = ActiveSupport::Cache.lookup_store(:larder_store, path_of("cache.larder"),
                                                   { size: 1 << 20, local_expires_in: 0.001, remote: remote })
      end

      # LarderStore lists it.
      def silent?
        true
      end
    end

    # The directory of the cache's file is gone.
    class MigrationUnopenedFileTest < ActiveSupport::TestCase
      include MigrationOutageTests

      def prepare
        Dir.mkdir(path_of("cache"))
        @store = ActiveSupport::Cache.lookup_store(:larder_store, path_of("cache/cache.larder"), { size: 1 << 20 })
      end

      # Another process stores it: this one has not opened the file when it fails.
      def fill
        assert_predicate wait_for(fork { exit!(super ? true : false) }), :success?
      end

      # Once it is open, it does not fail.
      def silent?
        true
      end

      def fail_now
        File.rename(path_of("cache"), path_of("cache_of_before"))
        File.write(path_of("cache"), "")
        @failed = true
      end

      def heal
        return unless @failed

        File.delete(path_of("cache"))
        File.rename(path_of("cache_of_before"), path_of("cache"))
        @failed = false
      end
    end

    class MigrationTableTest < ActiveSupport::TestCase
      include MigrationOutageTests

      def prepare
        ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: path_of("table.sqlite3"))
        ActiveRecord::Schema.verbose = false
        ActiveRecord::Schema.define do
          create_table(:sessions, force: true) do |t|
            t.string :session_id, null: false, index: { unique: true }
            t.text :data
            t.timestamps
          end
        end
      end

      def former
        :active_record_store
      end

      def fill
        ActiveRecord::SessionStore::Session.create!(session_id: ID.private_id, data: VALUES)
      end

      def fail_now
        ActiveRecord::Base.connection.rename_table(:sessions, :sessions_of_before)
        @failed = true
      end

      def heal
        ActiveRecord::Base.connection.rename_table(:sessions_of_before, :sessions) if @failed
        @failed = false
      end
    end

    class MigrationByLambdaTest < ActiveSupport::TestCase
      include TemporaryCaches

      test "a lambda that raises fails the request, and no cookie is sent" do
        former = ->(_, _) { @failing ? raise(IOError, "it does not answer") : { "user_id" => 7 } }
        application = lambda do |env|
          [200, {}, [env["rack.session"]["user_id"].to_s]]
        rescue IOError
          [500, {}, ["sorry"]]
        end
        sessions = Rack::Session::Larder.new(application, file: path_of, size: 1 << 20, ephemeral: true,
                                                          migrate_from: former)
        @failing = true
        2.times do
          answer = Rack::MockRequest.new(sessions).get("/", { "HTTP_COOKIE" => "rack.session=#{"0" * 32}" })
          assert_equal [500, nil], [answer.status, answer["set-cookie"]]
        end
        @failing = false
        assert_equal "7", Rack::MockRequest.new(sessions).get("/", { "HTTP_COOKIE" => "rack.session=#{"0" * 32}" }).body
      end
    end

    # FileStore answers nil where a file cannot be read.
    class MigrationFilesTest < ActiveSupport::TestCase
      include MigrationOutageTests

      def prepare
        @store = ActiveSupport::Cache.lookup_store(:file_store, path_of("files"))
      end

      def fill
        super
        @path = Dir.glob(path_of("files/**/*")).find { |path| File.file?(path) }
      end

      # A directory in place of the file.
      def fail_now
        @failed = true
        File.rename(@path, path_of("file_of_before")) if File.file?(@path)
        FileUtils.mkdir_p(@path)
      end

      def heal
        return unless @failed

        @failed = false
        Dir.rmdir(@path)
        File.rename(path_of("file_of_before"), @path) if File.exist?(path_of("file_of_before"))
      end
    end
  end
end
