# frozen_string_literal: true

require "test_helper"
require "rack/mock"
require "rack/session/larder"
require "support/moved_clock"
require "support/reported_errors"
require "support/servers"
require "support/slow_proxy"

module Larder
  module Sessions
    module Backends
      # Two machines with `cache:` on one Redis. A session ends on the machine whose link to Redis hangs, or while Redis
      # is dead. The other machine renews it before Redis has the end.
      class LateEndsTest < ActiveSupport::TestCase
        include ReportedErrors
        include Processes
        include TemporaryDirectory

        # Seconds after which each pause is over that follows a failure.
        PAUSES = 3
        APPLICATION = lambda do |env|
          session = env["rack.session"]
          user = session["user_id"] || session["cart"]
          case env["PATH_INFO"]
          when "/visit" then session.update("cart" => "a cart")
          when "/sign_in" then session.update("user_id" => env["QUERY_STRING"].to_i)
          when "/destroy" then session.destroy
          when "/clear" then session.clear
          end
          session.options[:renew] = true if %w[/sign_in /renew].include?(env["PATH_INFO"])
          [200, {}, [user.inspect]]
        end

        setup do
          type = Larder::Lab::Servers.fetch("redis")
          skip "Redis is not installed" unless type.path

          @server = type.new(directory).tap(&:start)
          @proxy = SlowProxy.new(url.delete_prefix("unix://"))
          @here = machine("here", "redis://127.0.0.1:#{@proxy.port}/0")
          @there = machine("there", url)
        end

        teardown do
          [@here, @there].compact.each { |one| store_of(one).instance_variable_get(:@backplane).stop }
          @proxy&.stop
          @server&.stop
        end

        %w[/destroy /clear].each do |path|
          test "a session that ended by #{path} ends under an id of another machine, from before the message" do
            cookie = known_to_both
            reported do
              cut_off { get(@here, path, cookie) }
              renewed = 3.times.reduce(cookie) { |each, _| get(@there, "/renew", each).last }
              assert_equal "7", get(@there, "/", renewed).first
              @proxy.release
              assert_ends(cookie, renewed)
            end
          end

          test "a session that ended by #{path} while Redis was dead ends under an id of another machine" do
            cookie = known_to_both
            reported do
              kept = dump
              TestServers.kill(@server)
              get(@here, path, cookie)
              revive(kept)
              renewed = get(@there, "/renew", cookie).last
              refute_equal cookie, renewed
              assert_ends(cookie, renewed)
            end
          end
        end

        test "an anonymous session that ended ends under an id of another machine, from before the message" do
          cookie = known_to_both("/visit", '"a cart"')
          reported do
            cut_off { get(@here, "/destroy", cookie) }
            renewed = 3.times.reduce(cookie) { |each, _| get(@there, "/renew", each).last }
            assert_equal '"a cart"', get(@there, "/", renewed).first
            @proxy.release
            assert_ends(cookie, renewed)
          end
        end

        test "an anonymous session that ended while Redis was dead ends under an id of another machine" do
          cookie = known_to_both("/visit", '"a cart"')
          reported do
            kept = dump
            TestServers.kill(@server)
            get(@here, "/destroy", cookie)
            revive(kept)
            renewed = get(@there, "/renew", cookie).last
            refute_equal cookie, renewed
            assert_ends(cookie, renewed)
          end
        end

        test "a user who has signed in since in an anonymous session stays signed in" do
          cookie = known_to_both("/visit", '"a cart"')
          reported do
            cut_off { get(@here, "/destroy", cookie) }
            renewed = get(@there, "/sign_in?8", get(@there, "/renew", cookie).last).last
            @proxy.release
            MovedClock.forward(PAUSES)
            assert(eventually { get(@here, "/", cookie) && store_of(@here).remote.outbox.journal.empty? })
            assert_equal ["8", "8"], [@here, @there].map { |one| get(one, "/", renewed).first }
          end
        end

        test "a renewal long before the message reaches the other machine does not save the session" do
          cookie = known_to_both
          reported do
            cut_off { get(@here, "/destroy", cookie) }
            renewed = get(@there, "/renew", cookie).last
            far { |redis| redis.keys("session/6d2f*").each { |note| redis.del(note) } } # a minute later
            @proxy.release
            assert_ends(cookie, renewed)
          end
        end

        test "another user who has signed in since stays signed in" do
          cookie = known_to_both
          reported do
            cut_off { get(@here, "/destroy", cookie) }
            renewed = get(@there, "/sign_in?8", cookie).last
            @proxy.release
            MovedClock.forward(PAUSES)
            assert(eventually { get(@here, "/", cookie) && store_of(@here).remote.outbox.journal.empty? })
            assert_equal ["8", "8"], [@here, @there].map { |one| get(one, "/", renewed).first }
          end
        end

        test "a session that ended while Redis died between the delete and the look for other ids ends under those" do
          cookie = known_to_both
          renewed = get(@there, "/renew", cookie).last
          reported do
            @proxy.hold(/session\/6d2f/n) # the look at the note
            get(@here, "/destroy", cookie)
            assert_predicate @proxy, :holds?
            @proxy.release
            assert_ends(cookie, renewed)
          end
        end

        private

        def url
          @server.endpoint.fetch("url")
        end

        def machine(name, at)
          Rack::Session::Larder.new(APPLICATION, cache: [:redis_cache_store, { url: at, reconnect_attempts: 0 }],
                                                 cache_id: "one", backplane: url, file: path_of("#{name}.larder"),
                                                 size: 1 << 20)
        end

        # @return [String] the cookie of a session whose copy both machines have
        def known_to_both(path = "/sign_in?7", answer = "7")
          cookie = get(@there, path).last
          assert(eventually do
            [@here, @there].all? { |one| get(one, "/", cookie) && store_of(one).cache.trusted? }
          end)
          [@here, @there].each { |one| assert_equal answer, get(one, "/", cookie).first }
          cookie
        end

        def get(machine, path, cookie = nil)
          answer = Rack::MockRequest.new(machine).get(path, { "HTTP_COOKIE" => cookie }.compact)
          [answer.body, Array(answer["set-cookie"]).join[/\A[^;]+/] || cookie]
        end

        # While the link of the one machine hangs.
        def cut_off
          @proxy.hold
          yield
          refute_predicate store_of(@here).remote.outbox.journal, :empty?
        end

        def assert_ends(*cookies)
          MovedClock.forward(PAUSES)
          assert(eventually do
            [@here, @there].product(cookies).all? { |one, cookie| get(one, "/", cookie).first == "nil" }
          end, "it goes on")
        end

        def store_of(machine)
          machine.repository.backend.instance_variable_get(:@larder)
        end

        def far
          client = Redis.new(url: url)
          yield client
        ensure
          client&.close
        end

        # All that Redis has, by key.
        def dump
          far { |redis| redis.keys("*").to_h { |key| [key, [redis.pttl(key), redis.dump(key)]] } }
        end

        def revive(kept)
          @server.start
          far { |redis| kept.each { |key, (ttl, bytes)| redis.restore(key, [ttl, 0].max, bytes, replace: true) } }
        end
      end
    end
  end
end
