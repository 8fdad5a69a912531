# frozen_string_literal: true

require "test_helper"
require "rack/session/larder"
require "larder/sessions/settings"

module Larder
  module Sessions
    # What the middleware says in the file about itself.
    class SettingsTest < ActiveSupport::TestCase
      include TemporaryCaches

      test "the middleware says in its file how long its sessions live, and what stands behind it" do
        middleware(idle_timeout: 3600, anonymous_timeout: 600, max_lifetime: 86_400, backed_by: :memory_store)
        settings = Settings.read(cache)
        assert_equal({ idle_timeout: 3600.0, anonymous_timeout: 600.0, max_lifetime: 86_400.0,
                       backed_by: "ActiveSupport::Cache::MemoryStore" }, settings.to_h)
      end

      test "it says so from its first use on, and makes no file before" do
        made = Rack::Session::Larder.new(nil, file: path_of, size: SIZE, idle_timeout: 3600)
        assert_not ::File.exist?(path_of)
        assert_nil made.repository.find("a" * 32)
        assert_equal 3600.0, Settings.read(cache).lifetimes.idle
      end

      test "what never ends is said as well" do
        middleware(idle_timeout: nil, anonymous_timeout: nil)
        assert_equal [nil], Settings.read(cache).to_h.values.uniq
      end

      test "it is written where it differs only" do
        middleware(idle_timeout: 3600)
        sets = cache.stats[:sets]
        middleware(idle_timeout: 3600)
        assert_equal sets, cache.stats[:sets]
        middleware(idle_timeout: 7200)
        assert_equal 7200.0, Settings.read(cache).lifetimes.idle
      end

      test "a console, a job or another program that asks about sessions says nothing" do
        Sessions.repository(file: path_of, size: SIZE).begin("a" * 32, { "user_id" => 1 })
        assert_nil Settings.read(cache)
      end

      test "it is written again with the next session after the file was lost" do
        repository = middleware.repository
        repository.begin("a" * 32, { "a" => 1 })
        cache.clear
        repository.begin("b" * 32, { "a" => 1 })
        assert_equal repository.lifetimes.idle, Settings.read(cache).lifetimes.idle
      end

      test "what later versions add, and what is no settings, does no harm" do
        cache.set("settings", '{"idle_timeout":60,"news":[1]}')
        assert_equal [60, nil], [Settings.read(cache).lifetimes.idle, Settings.read(cache).backed_by]
        ["", "[]", "null", "no json", "\xFF"].each do |bytes|
          cache.set("settings", bytes)
          assert_nil Settings.read(cache), bytes
        end
      end

      test "in a file that is full it is kept like what may be evicted" do
        small = open_cache("small.larder", size: 1 << 20)
        [2000, 50, 0].each { |bytes| 2000.times { |i| kept?(small, "#{bytes} #{i}", "x" * bytes) } }
        assert_raises(FullError) { small.set("settings", "{}", pin: true) }
        middleware(file: path_of("small.larder"), size: small.size)
        assert Settings.read(small)
      end

      private

      def middleware(**options)
        options = { file: path_of, size: SIZE, **options }
        Rack::Session::Larder.new(->(_env) { [200, {}, []] }, options).tap { |made| made.repository.find("a" * 32) }
      end

      def kept?(small, key, value)
        small.set(key, value, pin: true)
      rescue FullError
        false
      end
    end
  end
end
