# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "rack/mock"
require "rack/session/larder"
require "support/reported_errors"
require "support/servers"

module Larder
  module Sessions
    module Backends
      # Files before one store of `backed_by:`, by requests. A new file is a machine after a loss, or a second machine.
      class OneMachineTest < ActiveSupport::TestCase
        include ReportedErrors
        include TemporaryCaches
        include Processes

        # Name => what is typed, of a test, and the store that the message names.
        STORES = {
          "a FileStore" => [->(test) { [:file_store, test.path_of("store")] }, "redis_cache_store"],
          "Redis"       => [->(test) { [:redis_cache_store, { url: test.url_of("redis") }] }, "redis_cache_store"],
          "memcached"   => [->(test) { [:mem_cache_store, test.url_of("memcached"), { protocol: :meta }] },
                            "mem_cache_store"]
        }.freeze

        APPLICATION = lambda do |env|
          session = env["rack.session"]
          session["user_id"] = 7 if env["PATH_INFO"] == "/sign_in"
          [200, {}, [session["user_id"].inspect]]
        end

        STORES.each do |name, (typed, line)|
          test "a second machine is reported once on each, with the line that fits, before #{name}" do
            use(typed)
            here = machine("here")
            there = nil
            reports = reported do
              cookie = sign_in(here)
              there = machine("there")
              assert_equal "7", get(there, cookie)
            end
            assert_empty reports, "the second may be the first after a loss of its file"
            [here, there, here, there].each_with_index do |one, i|
              errors = reported { 3.times { get(one, "rack.session=#{SecureRandom.hex(16)}") } }
              assert_equal [SecondMachineError] * (i < 2 ? 1 : 0), errors.map(&:class)
              assert_match(/exactly one machine.* by cache: .*\[:#{line}, \{/, errors.first.message) if i < 2
            end
          end

          test "a machine that lost its file several times is alone, before #{name}" do
            use(typed)
            reports = reported do
              cookie = nil
              5.times do |i|
                one = machine("loss#{i}")
                assert_equal "7", get(one, cookie) if cookie
                cookie = sign_in(one)
                3.times { get(one, "rack.session=#{SecureRandom.hex(16)}") }
              end
            end
            assert_empty reports
          end

          # Each may be the one that writes the id of the file.
          test "processes that find the new file at the same time report nothing, before #{name}" do
            use(typed)
            get(machine("lost"), "rack.session=#{SecureRandom.hex(16)}")
            one = machine("new")
            gate, open = IO.pipe
            children = Array.new(6) do
              fork do
                open.close
                gate.read
                errors = reported { 5.times { get(one, "rack.session=#{SecureRandom.hex(16)}") } }
                exit!(errors.empty? ? 0 : 1)
              end
            end
            open.close
            children.each { |child| assert_predicate wait_for(child), :success? }
            assert_empty reported { get(one, "rack.session=#{SecureRandom.hex(16)}") }
          end
        end

        # @return [String] where a server is
        def url_of(name)
          (TestServers.endpoint(name) || skip("#{name} is not installed"))["url"]
        end

        private

        def use(typed)
          @store = typed.call(self)
          ActiveSupport::Cache.lookup_store(*@store).clear
        end

        def machine(name)
          Rack::Session::Larder.new(APPLICATION, backed_by: @store, file: path_of("#{name}.larder"), size: 1 << 20)
        end

        def sign_in(machine)
          Array(Rack::MockRequest.new(machine).get("/sign_in")["set-cookie"]).join[/\A[^;]+/]
        end

        def get(machine, cookie)
          Rack::MockRequest.new(machine).get("/", { "HTTP_COOKIE" => cookie }).body
        end
      end
    end
  end
end
