# frozen_string_literal: true

require "support/dashboard_case"
require "active_support/cache/larder_store"

module Larder
  class Dashboard
    # Which cache is shown, and what is shown where there is none.
    class SourceTest < DashboardCase
      def problem(path = "")
        get("/larder/#{path}")
        assert_match(/class="card problem/, last_response.body)
        text_of(last_response.body)
      end

      test "a store, a cache and a path are shown, without a read of the application" do
        cache.set("shown", "1")
        store = ActiveSupport::Cache::LarderStore.new(path_of)
        before = cache.stats.slice(:hits, :misses)
        [store, cache, path_of, Pathname(path_of)].each do |given|
          use(cache: given)
          assert_match(/shown/, page("keys"))
          page
          page("entry", key: "shown")
        end
        assert_equal before, cache.stats.slice(:hits, :misses)
      end

      test "another store is named, with the remedy" do
        use(cache: ActiveSupport::Cache::MemoryStore.new)
        text = problem
        assert_match(/ActiveSupport::Cache::MemoryStore, not a Larder store.*config\.cache_store = :larder_store/, text)
        assert_equal 200, last_response.status
      end

      test "a file that is not there is not made, also by a store" do
        absent = path_of("absent/c.larder")
        [absent, ActiveSupport::Cache::LarderStore.new(absent)].each do |given|
          use(cache: given)
          ["", "keys", "entry?key=a", "clear", "delete?key=a"].each do |path|
            assert_match(/There is no file yet.*#{absent}/, problem(path))
            assert_equal 200, last_response.status
          end
        end
        refute_path_exists File.dirname(absent)
      end

      test "a file that appears, disappears and is replaced is followed" do
        file = path_of("later.larder")
        use(cache: file)
        problem
        Cache.open(file, size: 1 << 20) { |other| other.set("first", "1") }
        assert_match(/first/, page("keys"))
        File.delete(file)
        problem
        Cache.open(file, size: 1 << 20) { |other| other.set("second", "1") }
        assert_match(/second/, page("keys"))
      end

      test "a foreign file, a directory and a damaged file are explained, and stay as they are" do
        foreign, damaged = path_of("foreign"), path_of("damaged.larder")
        File.write(foreign, "not a cache" * 1000)
        Cache.open(damaged, size: 1 << 20) { |other| other.set("a", "1") }
        File.open(damaged, "r+b") { |file| file.write("\xff" * 8192) }
        link = path_of("link.larder")
        File.symlink("nowhere", link)
        [foreign, damaged, directory, link].each do |file|
          use(cache: file)
          before = (File.binread(file) if File.file?(file))
          assert_match(/cannot be opened.*larder doctor/, problem)
          assert_equal 503, last_response.status
          assert_equal before, File.binread(file) if before
        end
      end

      test "a directory that is not one is explained" do
        use(cache: "#{path_of}/c.larder")
        assert_match(/The file cannot be seen.*test\.larder is a file, and no file can be in it/, problem)
        assert_equal 503, last_response.status
      end

      test "the file of another user is explained, with the command for that user" do
        skip "only root may give files away" unless Process.uid.zero?
        File.chown(65_534, nil, path_of)
        assert_match(/belongs to another user.*larder doctor/, problem)
        assert_equal 503, last_response.status
      end
    end
  end
end
