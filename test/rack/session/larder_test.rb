# frozen_string_literal: true

require "test_helper"
require "rack/session/larder"
require "rack/mock"
require "rack/lint"
require "support/reported_errors"

module Rack
  module Session
    # A Rack application behind the middleware, with Rack's own checks on both sides.
    class LarderTest < ActiveSupport::TestCase
      include ReportedErrors
      include TemporaryCaches

      # What the application does with a request.
      setup { @does = ->(request) { request.session["count"] = request.session["count"].to_i + 1 } }

      test "a session lasts over requests" do
        first = get
        assert_match(/\Arack\.session=\h{64}; .*httponly/i, first["set-cookie"].to_s)
        assert_match(/samesite=lax/i, first["set-cookie"].to_s)
        assert_equal %w[1 2 3], [first.body, get(first).body, get(first).body]
      end

      test "a sign-in without room is answered by 503, or as the option says, and those who are signed in go on" do
        fresh = get
        repository = Larder.new(nil, file: path_of, size: SIZE).repository
        count = -1
        assert_raises(::Larder::Sessions::NoRoomError) do
          repository.begin(Random.bytes(32), { "user_id" => count, "data" => "x" * 300 }) while count += 1
        end
        @does = ->(request) { request.session["user_id"] = 1 }
        assert_equal [503, nil], [get.status, get["set-cookie"]]
        assert_equal 503, get(fresh).status
        app = ->(env) { Request.new(env).session["user_id"] = 1 and [200, {}, []] }
        full = ->(request) { [302, { "location" => "/full?from=#{request.path}" }, []] }
        answer = Larder.new(app, file: path_of, size: SIZE, on_full: full).call(MockRequest.env_for("/in"))
        assert_equal [302, "/full?from=/in"], [answer[0], answer[1]["location"]]
        @does = ->(request) { request.session["count"] }
        assert_equal "1", get(fresh).body
      end

      test "an id that is not known is not taken over" do
        answer = get(cookie: "rack.session=#{"a" * 64}")
        assert_equal "1", answer.body
        assert_no_match(/a{64}/, answer["set-cookie"])
      end

      test "an id that its client has encoded is decoded" do
        first = get
        assert_equal "2", get(cookie: "rack.session=#{id(first).sub(/./) { |one| format("%%%02x", one.ord) }}").body
      end

      test "who changes the cookies of a request, or their header, changes its session" do
        store = Larder.new(nil, file: path_of, size: SIZE)
        request = Request.new(MockRequest.env_for("/", "HTTP_COOKIE" => "rack.session=one"))
        ids = ["two", "three"].map do |value|
          before = store.send(:extract_session_id, request)
          request.set_header("HTTP_COOKIE", "rack.session=#{value}")
          before.public_id
        end
        request.cookies["rack.session"] = "four"
        assert_equal %w[one two four], [*ids, store.send(:extract_session_id, request).public_id]
      end

      test "each of two middlewares finds the session of its own cookie" do
        request = Request.new(MockRequest.env_for("/", "HTTP_COOKIE" => "two=2; one=1"))
        ids = %w[one two].map do |key|
          Larder.new(nil, file: path_of, size: SIZE, key: key).send(:extract_session_id, request).public_id
        end
        assert_equal %w[1 2], ids
      end

      test "what is kept opens nothing: neither as an id nor as its digest" do
        first = get
        kept = cache.each_key(prefix: "s/").to_a
        assert_equal 1, kept.size
        assert_not_includes kept.first, id(first)
        [kept.first, kept.first.delete_prefix("s/"), kept.first.delete_prefix("s/").unpack1("H*")].each do |key|
          assert_equal "1", get(cookie: "rack.session=#{key}").body
        end
      end

      test "a session that was not loaded is neither kept nor given a cookie, nor is one that stays empty" do
        [->(_) {}, ->(request) { request.session["nobody"] },
         ->(request) { request.session.delete("x") }].each do |does|
          @does = does
          assert_nil get["set-cookie"]
        end
        assert_empty cache.each_key(prefix: "s/").to_a
      end

      test "renew keeps the values under another id, and the old id opens nothing" do
        first = get
        @does = ->(request) { request.session_options[:renew] = true }
        renewed = get(first)
        assert_not_equal id(first), id(renewed)
        @does = ->(request) { request.session["count"] }
        assert_equal ["1", ""], [get(renewed).body, get(first).body]
      end

      test "drop ends it" do
        first = get
        @does = ->(request) { request.session_options[:drop] = true }
        assert_nil get(first)["set-cookie"]
        assert_empty cache.each_key(prefix: "s/").to_a
      end

      test "defer keeps it without a cookie" do
        @does = ->(request) { [request.session_options[:defer] = true, request.session["a"] = 1] }
        assert_nil get["set-cookie"]
        assert_equal 1, cache.each_key(prefix: "s/").to_a.size
      end

      test "skip keeps nothing of the request" do
        first = get
        @does = ->(request) { [request.session_options[:skip] = true, request.session["count"] = 9] }
        get(first)
        @does = ->(request) { request.session["count"] }
        assert_equal "1", get(first).body
      end

      test "a session that another request has ended is not brought back, and what was lost with it is said" do
        first = get
        @does = lambda do |request|
          request.session["count"] = 9
          other { |inner| inner.session.destroy }.call(first)
        end
        assert_match(/Rack::Session::Larder: the session has ended meanwhile/, get(first).errors)
        @does = ->(request) { request.session["count"] }
        assert_equal "", get(first).body
      end

      test "two requests that overlap and change different keys keep both" do
        first = get
        @does = lambda do |request|
          request.session["outer"] = 1
          other { |inner| inner.session["inner"] = 2 }.call(first)
        end
        get(first)
        @does = ->(request) { request.session.to_hash.sort.to_s }
        assert_equal [["count", 1], ["inner", 2], ["outer", 1]].to_s, get(first).body
      end

      test "a slower request does not replace the cookie of a session that was renewed meanwhile" do
        @options = { file: path_of, size: SIZE, expire_after: 3600 }
        first = get
        assert_match(/expires/, get(first)["set-cookie"].to_s)
        @does = lambda do |request|
          request.session["count"]
          other { |inner| inner.session_options[:renew] = true }.call(first)
        end
        assert_nil get(first)["set-cookie"]
      end

      test "an id that comes in the address is a String or none" do
        @options = { file: path_of, size: SIZE, cookie_only: false }
        first = get
        app = Larder.new(->(env) { [200, {}, [Request.new(env).session["count"].inspect]] }, @options)
        assert_equal "1", MockRequest.new(app).get("/?rack.session=#{id(first)}").body
        assert_equal "nil", MockRequest.new(app).get("/?rack.session[a]=#{id(first)}").body
      end

      test "a value without a form in JSON is left out, however it is assigned, and reported once with key and class" do
        first = get
        reports = reported do
          { "[]=" => ["it", $stdout], "store" => ["it", $stdout], "update" => [{ it: $stdout }],
            "merge!" => [{ it: $stdout }], "replace" => [{ it: $stdout, count: 1 }] }.each do |name, given|
            @does = lambda do |request|
              request.session.public_send(name, *given)
              assert_same $stdout, request.session["it"], "this request reads what it has assigned"
            end
            assert_equal 200, get(first).status, name
            @does = ->(request) { request.session.to_hash }
            assert_equal({ "count" => 1 }.to_s, get(first).body, name)
          end
        end
        assert_equal [::Larder::Sessions::LossyValueError], reports.map(&:class)
        assert_match(/\Asession\["it"\] is a IO, .*left out.* choose serializer: :marshal/, reports.first.message)
      end

      test "a value that replaces another is left out, and the value is gone" do
        @does = ->(request) { request.session.update("cart" => { "tent" => 1 }, "user_id" => 7) }
        first = get
        @does = ->(request) { request.session["cart"] = $stdout }
        get(first)
        @does = ->(request) { request.session.to_hash }
        assert_equal({ "user_id" => 7 }.to_s, get(first).body)
      end

      [:json, :hybrid, :marshal].each do |serializer|
        test "a sign-in with a value that #{serializer} cannot keep is a sign-in" do
          @options = { file: path_of, size: SIZE, serializer: serializer }
          @does = ->(request) { request.session.update("user_id" => 7, "lock" => Mutex.new) }
          first = get
          @does = ->(request) { request.session["lock"] = [Thread.current] and request.session.options[:renew] = true }
          second = get(first)
          assert_not_equal id(first), id(second)
          @does = ->(request) { request.session.to_hash.inspect }
          read = get(second).body
          assert_includes [{ "user_id" => 7 }.inspect, { "user_id" => 7, "lock" => [nil] }.inspect], read
          assert ::Larder::Sessions.logged_in?(7)
        end
      end

      test "bytes of Rack's are kept as the text that they are" do
        @does = ->(request) { request.session["agent"] = request.get_header("HTTP_X_NAME") }
        first = get(nil, { "HTTP_X_NAME" => "Müller".b })
        @does = ->(request) { request.session["agent"].then { |agent| [agent, agent.encoding].inspect } }
        assert_equal ["Müller", Encoding::UTF_8].inspect, get(first).body
      end

      test "a value that was put into another is left out with its place, and the rest of the value stays" do
        first = get
        @does = ->(request) { (request.session["list"] = [1]) << $stdout }
        errors = reported { assert_equal 200, get(first).status }
        assert_match(/\Asession\["list"\]\[1\] is a IO, /, errors.first.message)
        @does = ->(request) { request.session.to_hash }
        assert_equal({ "count" => 1, "list" => [1, nil] }.to_s, get(first).body)
      end

      test "what says that it is nil is kept as little as nil" do
        @options = { file: path_of, size: SIZE, serializer: :marshal }
        first = get
        @does = ->(request) { request.session["nobody"] = Class.new { def nil? = true }.new }
        get(first)
        @does = ->(request) { request.session.to_hash }
        assert_equal({ "count" => 1 }.to_s, get(first).body)
      end

      test "options that make no sense are refused with their names" do
        { { idle_timeout: 0 } => /idle_timeout: 0 must be a number/, { idle_timeout: "1" } => /idle_timeout: "1"/,
          { serializer: :yaml } => /serializer: :yaml is none of/, { cache: :null_store, file: path_of } =>
            /exclude each other/ }.each do |options, message|
          error = assert_raises(::Larder::InvalidArgument) { Larder.new(->(_) {}, options) }
          assert_match message, error.message
        end
      end

      test "questions are about the sessions of the request at hand, elsewhere about the first, or as is said" do
        ask = ->(_env) { [200, {}, [[1, 2].select { |user| ::Larder::Sessions.logged_in?(user) }.inspect]] }
        one, two = [1, 2].map do |user|
          store = Larder.new(ask, file: path_of("#{user}.larder"), size: SIZE)
          store.tap { store.repository.begin(user.to_s * 32, { "user_id" => user }) }
        end
        outside = -> { ask.call(nil).last.first }
        assert_equal ["[1]", "[2]", "[1]"], [MockRequest.new(one).get("/").body, MockRequest.new(two).get("/").body,
                                             outside.call]
        ::Larder::Sessions.use(two.repository) { assert_equal "[2]", outside.call }
        assert_equal "[1]", outside.call
        ::Larder::Sessions.use(two.repository)
        assert_equal "[2]", outside.call
        two.work_apart { |path| "#{path}.apart" }
        one.work_apart { |path| "#{path}.apart" }
        assert_equal "[2]", outside.call
      end

      test "a middleware that works apart is asked about where it was before" do
        ask = ->(_env) { [200, {}, []] }
        store = Larder.new(ask, file: path_of, size: SIZE)
        store.repository.begin("1" * 32, { "user_id" => 1 })
        assert ::Larder::Sessions.logged_in?(1)
        store.work_apart { |path| "#{path}.apart" }
        assert_not ::Larder::Sessions.logged_in?(1)
      end

      test "somebody is bound to the session, and no longer" do
        @does = ->(_) { ::Larder::Sessions.bind(7) }
        first = get
        assert id(first), "a session of nothing but its user is one"
        assert ::Larder::Sessions.logged_in?(7)
        @does = ->(request) { request.session["count"] = 1 }
        get(first)
        assert ::Larder::Sessions.logged_in?(7), "a change of values is none of its user"
        @does = ->(_) { ::Larder::Sessions.bind(nil) }
        get(first)
        refute ::Larder::Sessions.logged_in?(7)
      end

      test "who is bound stays so when the id is renewed, and not when the session is destroyed" do
        @does = ->(_) { ::Larder::Sessions.bind(7) }
        first = get
        @does = ->(request) { request.session_options[:renew] = true }
        renewed = get(first)
        assert_equal 1, ::Larder::Sessions.for(7).size
        @does = ->(request) { request.session.destroy && request.session["a"] = 1 }
        get(renewed)
        refute ::Larder::Sessions.logged_in?(7)
      end

      test "who was bound before the session is destroyed, or while its id is renewed, is not bound to the next one" do
        @does = ->(request) { [::Larder::Sessions.bind(7), request.session.destroy, request.session["a"] = 1] }
        first = get
        refute ::Larder::Sessions.logged_in?(7)
        @does = ->(_) { ::Larder::Sessions.bind(7) }
        get(first)
        assert ::Larder::Sessions.logged_in?(7)
        @does = ->(request) { [request.session_options[:renew] = true, request.session.destroy] }
        get(first)
        refute ::Larder::Sessions.logged_in?(7)
      end

      test "a renewal that is not written ends the session as well" do
        @does = ->(request) { request.session["user_id"] = 7 }
        first = get
        @does = ->(request) { [request.session_options[:renew] = true, request.session.clear] }
        get(first)
        refute ::Larder::Sessions.logged_in?(7)
        @does = ->(request) { request.session["user_id"].inspect }
        assert_equal "nil", get(first).body
      end

      test "a request that renews a session does not bring back what was logged out meanwhile" do
        @does = ->(request) { request.session["user_id"] = 7 }
        first = get
        @does = lambda do |request|
          request.session["user_id"]
          request.session_options[:renew] = true
          ::Larder::Sessions.logout(7)
        end
        assert_nil get(first)["set-cookie"]
        refute ::Larder::Sessions.logged_in?(7)
      end

      test "a sign-out by the id that a session had a moment ago signs out, and that id opens nothing" do
        @does = ->(request) { request.session["cart"] = 1 }
        first = get
        @does = ->(request) { [request.session_options[:renew] = true, request.session["user_id"] = 7] }
        renewed = get(first)
        @does = ->(request) { request.session["user_id"].inspect }
        assert_equal %w[7 nil], [renewed, first].map { |answer| get(answer).body }
        assert ::Larder::Sessions.logged_in?(7)
        @does = ->(request) { request.session.destroy }
        get(first)
        refute ::Larder::Sessions.logged_in?(7)
        @does = ->(request) { request.session["user_id"].inspect }
        assert_equal "nil", get(renewed).body
      end

      test "several are bound to one session, and a logout of one ends it" do
        admin = ::Struct.new(:id) { def self.name = "Admin" }.new(8)
        @does = ->(_) { ::Larder::Sessions.bind(7, admin) }
        first = get
        assert_equal ["User/7", "Admin/8"], ::Larder::Sessions.for(7).first.users
        @does = ->(_) { ::Larder::Sessions.bind(9, as: "Guest") }
        get(first)
        refute ::Larder::Sessions.logged_in?(7)
        assert_equal ["Guest/9"], ::Larder::Sessions.for("Guest/9").first.users
        assert_equal 1, ::Larder::Sessions.logout("Guest/9")
        @does = ->(_) { ::Larder::Sessions.bind }
        assert_match(/bind whom\?/, assert_raises(::Larder::InvalidArgument) { get }.message)
      end

      test "a request knows the handle of its session, and ends all others of its user" do
        @does = ->(request) { request.session["user_id"] = 7 }
        mine, = Array.new(3) { get }
        @does = ->(request) { ::Larder::Sessions.handle_of(request.session) }
        handle = get(mine).body
        assert_includes ::Larder::Sessions.for(7).map(&:handle), handle
        @does = ->(request) { ::Larder::Sessions.logout(7, except: request.session) }
        assert_equal "2", get(mine).body
        assert_equal [handle], ::Larder::Sessions.for(7).map(&:handle)
      end

      test "a session that was ended from outside opens nothing" do
        @does = ->(request) { request.session["user_id"] ||= 7 }
        first = get
        ::Larder::Sessions.revoke(::Larder::Sessions.for(7).first.handle)
        @does = ->(request) { request.session["user_id"].inspect }
        assert_equal "nil", get(first).body
      end

      test "requiring it brings all that it needs" do
        ["rack/session/larder", "action_dispatch/middleware/session/larder_store", "larder/sessions"].each do |library|
          lib = ::File.expand_path("../../../lib", __dir__)
          script = "require #{library.inspect}; Larder::Sessions.repository(file: #{path_of.inspect}, size: #{SIZE})"
          assert system(RbConfig.ruby, "-w", "-I#{lib}", "-e", script), library
        end
      end

      test "any store of ActiveSupport's keeps them as well" do
        store = ActiveSupport::Cache::MemoryStore.new
        @options = { cache: store }
        first = get
        assert_equal "2", get(first).body
        assert_nil store.read("session/#{id(first)}")
      end

      private

      def get(after = nil, headers = {}, cookie: after && after["set-cookie"].to_s[/[^;]+/])
        other(&@does).call(nil, cookie, headers)
      end

      # A request in which the application does what the block says.
      def other(&does)
        app = Lint.new(Larder.new(Lint.new(lambda do |env|
          [200, { "content-type" => "text/plain" }, [does.call(Request.new(env)).to_s]]
        end), @options || { file: path_of, size: SIZE }))
        lambda do |after, cookie = nil, headers = {}|
          cookie ||= after && after["set-cookie"].to_s[/[^;]+/]
          MockRequest.new(app).get("/", { "HTTP_COOKIE" => cookie, **headers }.compact)
        end
      end

      def id(answer)
        answer["set-cookie"].to_s[/rack\.session=(\h+)/, 1]
      end
    end
  end
end
