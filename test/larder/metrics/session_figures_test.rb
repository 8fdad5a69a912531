# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "larder/metrics"
require "larder/sessions"

module Larder
  class Metrics
    class SessionFiguresTest < ActiveSupport::TestCase
      include TemporaryCaches

      test "a process without sessions has no figures of them, and configures none" do
        Sessions.use(nil)
        assert_equal({}, SessionFigures.read)
        assert_nil Sessions.current
      end

      test "sessions in a file are counted" do
        repository = use(file: path_of("s.larder"), size: 4 << 20, ephemeral: true)
        assert_equal({}, SessionFigures.read)
        assert_empty Dir.children(directory)
        repository.begin("k" * 32, { "user_id" => 7 })
        repository.begin("a" * 32, { "cart" => 1 })
        found = SessionFigures.read
        assert_equal [1, 1, 0], found.values_at("sessions.signed_in", "sessions.anonymous", "sessions.evictions")
                                     .map { |samples| samples.fetch({}) }
        assert_equal({ "1m" => 2, "5m" => 2, "1h" => 2, "1d" => 2 },
                     found["sessions.active"].transform_keys { |labels| labels["window"] })
        assert_operator found["sessions.pinned"][{}], :>, 0
        assert_operator found["sessions.pinned_room"][{}], :>, found["sessions.pinned"][{}]
      end

      test "sessions in a store of servers are not asked for in a scrape" do
        use(cache: [:memory_store, {}])
        assert_equal({}, SessionFigures.read)
      end

      test "a file of sessions that cannot be used, or cannot be made, is down" do
        repository = use(file: path_of("s.larder"), size: 4 << 20, ephemeral: true)
        repository.begin("k" * 32, { "user_id" => 7 })
        assert_equal 1, SessionFigures.read["sessions.up"][{}]
        repository.backend.cache.close
        assert_equal({ "sessions.up" => { {} => 0 } }, SessionFigures.read)
        File.write(path_of("file"), "text")
        use(file: path_of("file/s.larder"), size: 4 << 20, ephemeral: true)
        assert_equal({ "sessions.up" => { {} => 0 } }, SessionFigures.read)
      end

      private

      def use(**options)
        Sessions.repository(**options).tap { |repository| Sessions.use(repository) }
      end
    end
  end
end
