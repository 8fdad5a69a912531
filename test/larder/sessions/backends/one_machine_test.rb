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
      module OneMachineTests
        include ReportedErrors
        include TemporaryCaches
        include Processes

        APPLICATION = lambda do |env|
          session = env["rack.session"]
          session["user_id"] = 7 if env["PATH_INFO"] == "/sign_in"
          [200, {}, [session["user_id"].inspect]]
        end

        def test_a_second_machine_is_reported_once_on_each_with_the_line_that_fits
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

        def test_a_machine_that_lost_its_file_several_times_is_alone
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
        def test_processes_that_find_the_new_file_at_the_same_time_report_nothing
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

        private

        def machine(name)
          Rack::Session::Larder.new(APPLICATION, backed_by: store, file: path_of("#{name}.larder"), size: 1 << 20)
        end

        def sign_in(machine)
          Array(Rack::MockRequest.new(machine).get("/sign_in")["set-cookie"]).join[/\A[^;]+/]
        end

        def get(machine, cookie)
          Rack::MockRequest.new(machine).get("/", { "HTTP_COOKIE" => cookie }).body
        end
      end

      class OneMachineOnFilesTest < ActiveSupport::TestCase
        include OneMachineTests

        def store
          [:file_store, path_of("store")]
        end

        def line
          "redis_cache_store"
        end
      end

      class OneMachineOnRedisTest < ActiveSupport::TestCase
        include OneMachineTests

        setup do
          skip("redis is not installed") unless TestServers.endpoint("redis")
          ActiveSupport::Cache.lookup_store(*store).clear
        end

        def store
          [:redis_cache_store, { url: TestServers.endpoint("redis")["url"] }]
        end

        def line
          "redis_cache_store"
        end
      end

      class OneMachineOnMemcachedTest < ActiveSupport::TestCase
        include OneMachineTests

        setup do
          skip("memcached is not installed") unless TestServers.endpoint("memcached")
          ActiveSupport::Cache.lookup_store(*store).clear
        end

        def store
          [:mem_cache_store, TestServers.endpoint("memcached")["url"], { protocol: :meta }]
        end

        def line
          "mem_cache_store"
        end
      end
    end
  end
end
