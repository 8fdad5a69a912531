# frozen_string_literal: true

require "test_helper"
require "action_controller"
require "action_dispatch/middleware/flash"
require "active_support/messages/rotation_configuration"
require "action_dispatch/middleware/session/larder_store"
require "active_record"
require "activerecord/session_store"
require "rack/mock"
require "active_support/testing/time_helpers"
require "support/reported_errors"
require "support/servers"

module Larder
  module Sessions
    # An application that changes from another session store to Larder's, by real stacks of Rails' middleware, with the
    # gem activerecord-session_store and with real servers.
    class MigrationTest < ActiveSupport::TestCase
      include ReportedErrors
      include TemporaryCaches
      include ActiveSupport::Testing::TimeHelpers

      # Does what the test says.
      class Controller < ActionController::Base
        cattr_accessor :does

        def act
          render plain: instance_exec(&does).to_s
        end
      end

      KEY = "_app_session"

      setup do
        Controller.does = -> { session.to_hash.except("session_id").sort.to_h.to_json }
        @options = {}
        @cache = ActiveSupport::Cache::MemoryStore.new
      end

      # name => class of the store before, a method that answers its options, and how it is named for migrate_from:
      FORMER = {
        "Rails' cookies" => [ActionDispatch::Session::CookieStore, :no_options, :cookie_store],
        "Rails' cache"   => [ActionDispatch::Session::CacheStore, :memory, :cache_store],
        "Redis"          => [ActionDispatch::Session::CacheStore, :redis, :cache_store],
        "memcached"      => [ActionDispatch::Session::MemCacheStore, :memcached, :mem_cache_store],
        "a table"        => [ActionDispatch::Session::ActiveRecordStore, :table, :active_record_store]
      }.freeze

      FORMER.each do |name, (type, options, kind)|
        test "who is signed in by #{name} stays so, under a new id, with all values" do
          old = signed_in(type, **send(options))
          @options = { migrate_from: [kind, send(options)] }
          first = get(old)
          assert_equal '{"cart":{"tent":1},"user_id":1}', first.body
          assert_match(/\A_app_session=\h{32}\z/, cookie(first))
          refute_equal old, cookie(first)
          assert_equal first.body, get(cookie(first)).body
          assert statistics.logged_in?(1)
        end

        test "an id of #{name} of another name is found, and the new one has the new name" do
          old = signed_in(type, key: "_old", **send(options))
          @options = { migrate_from: [kind, { **send(options), key: "_old" }] }
          first = get(old)
          assert_match(/\A_app_session=\h{32}\z/, cookie(first))
          assert_equal first.body, get("#{old}; #{cookie(first)}").body
          assert_equal '{"cart":{"tent":1},"user_id":1}', first.body
        end

        test "requests that come at once with a cookie of #{name} have one session" do
          old = signed_in(type, **send(options))
          @options = { migrate_from: [kind, send(options)] }
          answers = Array.new(4) { get(old) }
          assert_equal ['{"cart":{"tent":1},"user_id":1}'], answers.map(&:body).uniq
          assert_equal 1, answers.map { |answer| cookie(answer) }.uniq.size
          assert_equal 1, statistics.for(1).size
        end

        test "after a sign-out the cookie of #{name} opens nothing" do
          old = signed_in(type, **send(options))
          @options = { migrate_from: [kind, send(options)] }
          new = cookie(get(old))
          Controller.does = -> { reset_session }
          get(new)
          Controller.does = -> { session[:user_id].inspect }
          assert_equal "nil", get(old).body
          assert_equal "nil", get(new).body
          refute statistics.logged_in?(1)
        end
      end

      test "an unknown cookie makes no row, and the row of a session that has moved goes" do
        rows = table && ActiveRecord::SessionStore::Session
        old = signed_in(ActionDispatch::Session::ActiveRecordStore)
        @options = { migrate_from: :active_record_store }
        assert_equal ["{}", 1], [get("#{KEY}=#{"0" * 32}").body, rows.count]
        assert_equal "{}", get("#{KEY}=#{rows.first.session_id}").body, "what the table has is no cookie"
        get(old)
        assert_equal 0, rows.count
      end

      test "a row of before the gem kept digests is moved" do
        table
        ActiveRecord::SessionStore::Session.create!(session_id: "1" * 32, data: { "user_id" => 3 })
        @options = { migrate_from: :active_record_store }
        assert_equal '{"user_id":3}', get("#{KEY}=#{"1" * 32}").body
        assert_equal 0, ActiveRecord::SessionStore::Session.count
      end

      test "the session is taken from a cache" do
        old = signed_in(ActionDispatch::Session::CacheStore, cache: @cache)
        @options = { migrate_from: [:cache_store, { cache: @cache }] }
        get(old)
        assert_empty @cache.instance_variable_get(:@data)
      end

      # Reasons why the first answers set no cookie => the action, the address, and options.
      WITHOUT_COOKIE = {
        "an exception"     => [-> { session[:user_id] && raise("no answer") }, "http"],
        "the option skip"  => [-> { (request.session_options[:skip] = true) && session[:user_id] }, "http"],
        "secure over http" => [-> { session[:user_id] }, "http", { secure: true }],
        "the option defer" => [-> { (request.session_options[:defer] = true) && session[:user_id] }, "http"]
      }.freeze

      WITHOUT_COOKIE.to_a.product(FORMER.to_a).each do |(lack, (does, scheme, more)), (name, (type, options, kind))|
        test "the cookie of #{name} leads to the session until a request has brought the new one: #{lack}" do
          old = signed_in(type, **send(options))
          @options = { migrate_from: [kind, send(options)], **(more || {}) }
          all = Controller.does
          [0, 61, 10_000].each do |seconds|
            travel seconds do
              Controller.does = does
              answer = begin
                get(old, scheme: scheme)
              rescue RuntimeError => error
                raise unless error.message == "no answer"
              end
              assert_nil answer && answer["set-cookie"]
            end
          end
          travel 20_000
          Controller.does = all
          first = get(old, scheme: "https")
          assert_equal '{"cart":{"tent":1},"user_id":1}', first.body
          assert_equal first.body, get(cookie(first), scheme: "https").body
          travel 60
          assert_equal first.body, get(old, scheme: "https").body, "for another minute"
          travel 61
          assert_equal ["{}", first.body], [old, cookie(first)].map { |one| get(one, scheme: "https").body }
          assert_equal 1, statistics.for(1).size
        end
      end

      test "the cookie of another name is deleted when the new one has come, and not before" do
        old = signed_in(ActionDispatch::Session::CookieStore, key: "_old")
        @options = { migrate_from: [:cookie_store, { key: "_old" }] }
        first = get(old)
        assert_not_includes first["set-cookie"].to_s, "_old="
        assert_match(/_old=;/, get("#{old}; #{cookie(first)}")["set-cookie"].to_s)
        assert_nil get(cookie(first))["set-cookie"]
      end

      test "a first request that drops its session ends it for good" do
        FORMER.each do |name, (type, options, kind)|
          [-> { request.session_options[:drop] = true }, -> { reset_session },
           -> { session.clear }, -> { session.delete(:user_id) }].each do |sign_out|
            @stack = nil
            old = signed_in(type, **send(options))
            @options = { migrate_from: [kind, send(options)], file: path_of("#{name}#{sign_out.object_id}.larder") }
            Controller.does = sign_out
            get(old)
            Controller.does = -> { session[:user_id].inspect }
            assert_equal "nil", get(old).body, name
          end
        end
      end

      [1, "User/1", :all].each do |user|
        test "a logout of #{user.inspect} ends sessions that are still in the other store, by any cookie" do
          FORMER.each do |name, (type, options, kind)|
            @stack = nil
            @options = { migrate_from: [kind, send(options)], file: path_of("#{name}.larder") }
            stack
            one, two = Array.new(2) { signed_in(type, **send(options)) }
            get(one)
            assert_equal 1, (user == :all ? statistics.logout_all : statistics.logout(user)), name
            assert_equal ["{}", "{}"], [get(one).body, get(two).body], name
            assert_equal "{}", get(two).body, name
          end
        end
      end

      PLACES = {
        "cache: on Redis"    => -> { { cache: [:redis_cache_store, { url: redis_url, namespace: name }] } },
        "cache: of any kind" => -> { { cache: ActiveSupport::Cache::MemoryStore.new } },
        "backed_by:"         => -> { { backed_by: ActiveSupport::Cache::MemoryStore.new, file: path_of } }
      }.freeze

      PLACES.each do |name, place|
        test "with #{name} an old cookie leads to the session until the new one comes, and a logout reaches it" do
          one, two = Array.new(2) { signed_in(ActionDispatch::Session::CookieStore) }
          @stack = rails(ActionDispatch::Session::LarderStore,
                         { key: KEY, size: 1 << 20, migrate_from: :cookie_store, **instance_exec(&place) })
          all = Controller.does
          Controller.does = -> { (request.session_options[:skip] = true) && session[:user_id].inspect }
          assert_equal "1", get(one).body
          travel 61
          Controller.does = all
          first = get(one)
          assert_equal '{"cart":{"tent":1},"user_id":1}', first.body
          get(cookie(first))
          travel 61
          assert_equal ["{}", first.body], [get(one).body, get(cookie(first)).body]
          statistics.logout(1)
          assert_equal ["{}", "{}"], [get(cookie(first)).body, get(two).body]
        end
      end

      PLACES.merge("a file" => -> { { file: path_of } }).to_a.product([1, :all]).each do |(name, place), user|
        test "with #{name} a session that is moved at the time of a logout of #{user.inspect} ends" do
          old = signed_in(ActionDispatch::Session::CookieStore)
          @options = { migrate_from: :cookie_store, **(name == "a file" ? {} : { file: nil }), **instance_exec(&place) }
          statistics = self.statistics
          stack.repository.define_singleton_method(:begin) do |*arguments, **options|
            user == :all ? statistics.logout_all : statistics.logout(user)
            super(*arguments, **options)
          end
          assert_equal "{}", get(old).body
          refute statistics.logged_in?(1)
        end
      end

      test "a logout of another user, and one that leaves out this session, change nothing here" do
        old = signed_in(ActionDispatch::Session::CookieStore)
        @options = { migrate_from: :cookie_store }
        stack
        statistics.logout(2)
        first = get(old)
        assert_equal '{"cart":{"tent":1},"user_id":1}', first.body
        statistics.logout(1, except: statistics.for(1).first.handle)
        assert_equal first.body, get(cookie(first)).body
      end

      test "a long time later the old cookie opens nothing" do
        old = signed_in(ActionDispatch::Session::CookieStore)
        @options = { migrate_from: :cookie_store }
        get(cookie(get(old)))
        travel 3600
        assert_equal "{}", get(old).body
      end

      test "anything that can be called finds sessions, by the request and what its cookie has" do
        asked = []
        @options = { migrate_from: lambda do |request, id|
          asked << [request.path, id]
          { "user_id" => 7 } if id == "known"
        end }
        assert_equal '{"user_id":7}', get("#{KEY}=known").body
        assert_equal "{}", get("#{KEY}=unknown").body
        assert_equal [["/", "known"], ["/", "unknown"]], asked
      end

      test "what the serializer does not keep is left out, and reported" do
        @options = { migrate_from: ->(_, _) { { "user_id" => 7, "when" => Object.new } } }
        reports = reported { assert_equal '{"user_id":7}', get("#{KEY}=known").body }
        assert_equal [LossyValueError], reports.map(&:class)
        assert_match(/session\["when"\]/, reports.first.message)
      end

      test "a store that is not known is refused" do
        @options = { migrate_from: :yaml_store }
        error = assert_raises(InvalidArgument) { stack }
        assert_match(/\Amigrate_from: :yaml_store is none of :cookie_store/, error.message)
      end

      private

      def no_options
        {}
      end

      def memory
        { cache: @cache }
      end

      def redis
        { cache: ActiveSupport::Cache.lookup_store(:redis_cache_store, url: redis_url) }
      end

      def redis_url
        endpoint("redis")["url"]
      end

      def memcached
        { memcache_server: endpoint("memcached")["url"], protocol: :meta }
      end

      # As the gem's migration makes it.
      def table
        ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: path_of("table.sqlite3"))
        ActiveRecord::Schema.verbose = false
        ActiveRecord::Schema.define do
          create_table(:sessions, if_not_exists: true) do |t|
            t.string :session_id, null: false, index: { unique: true }
            t.text :data
            t.timestamps
          end
        end
        {}
      end

      def endpoint(name)
        TestServers.endpoint(name) || skip("#{name} is not installed")
      end

      def signed_in(type, **options)
        does, Controller.does = Controller.does, -> { session.update("user_id" => 1, "cart" => { "tent" => 1 }) && 1 }
        cookie(call(rails(type, { key: KEY, **options })))
      ensure
        Controller.does = does
      end

      def get(cookie = nil, **how)
        call(stack, cookie, **how)
      end

      def stack
        @stack ||= rails(ActionDispatch::Session::LarderStore,
                         { key: KEY, file: path_of, size: 1 << 20, **@options })
      end

      def rails(type, options)
        application = Controller.action(:act)
        sessions = type.new(application, options)
        env = environment
        cookies = ActionDispatch::Cookies.new(sessions)
        handler = ->(given) { cookies.call(given.merge(env)) }
        handler.define_singleton_method(:repository) { sessions.repository }
        handler
      end

      def environment
        generator = ActiveSupport::KeyGenerator.new("secret" * 10, iterations: 1)
        { key_generator: ActiveSupport::CachingKeyGenerator.new(generator), secret_key_base: "secret" * 10,
          encrypted_cookie_salt: "encrypted", authenticated_encrypted_cookie_salt: "authenticated",
          use_authenticated_cookie_encryption: true, encrypted_signed_cookie_salt: "signed",
          signed_cookie_salt: "plain", cookies_serializer: :json,
          cookies_rotations: ActiveSupport::Messages::RotationConfiguration.new }
          .transform_keys { |name| "action_dispatch.#{name}" }
      end

      def call(application, cookie = nil, scheme: "http")
        Rack::MockRequest.new(application).get("#{scheme}://example.org/", { "HTTP_COOKIE" => cookie }.compact)
      end

      def cookie(answer)
        Array(answer["set-cookie"]).join("\n")[/^_[^;]+/]
      end

      def statistics
        Statistics.new(stack.repository)
      end
    end
  end
end
