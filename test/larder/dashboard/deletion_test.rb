# frozen_string_literal: true

require "support/dashboard_case"
require "active_support/cache/larder_store"

module Larder
  class Dashboard
    # Deleting a key, a part and all.
    class DeletionTest < DashboardCase
      def events(&block)
        found = []
        take = ->(event) { found << event.payload }
        ActiveSupport::Notifications.subscribed(take, "dashboard_delete.larder", &block)
        found
      end

      def clear_part(by, text = nil)
        page("clear", by: by, text: text)
        send_form("clear", by: by, text: text)
        assert_equal 200, last_response.status, last_response.body
        text_of(last_response.body)
      end

      def keys
        cache.each_key.to_a.sort
      end

      test "a key of any bytes is deleted after a question, and announced with who did it" do
        key = "#{HOSTILE}\xff\x00".b
        cache.set(key, "1")
        use(actor: lambda(&:ip))
        assert_match(/Delete this key\?/, page("delete", key: Inspection::KeyText.shown(key)))
        payloads = events { send_form("delete", key: Inspection::KeyText.shown(key)) }
        assert_match(/The key was deleted/, last_response.body)
        assert_empty keys
        assert_equal [{ cache: path_of, key: key, count: 1, actor: "127.0.0.1" }], payloads
        send_form("delete", key: "gone", token: token_of(page("delete", key: "gone")))
        assert_match(/The key was not there/, last_response.body)
      end

      test "parts are deleted by prefix, namespace, tag and keyspace, and all at once" do
        @cache = open_cache("parts.larder", statistics: true)
        use(cache: path_of("parts.larder"))
        store = ActiveSupport::Cache::LarderStore.new(path_of("parts.larder"), namespace: "shop")
        %w[views/1 views/2 users/1 users/2 other a*b axb].each { |key| cache.set(key, "1") }
        store.write("in shop", 1)
        store.write("tagged", 1, namespace: nil, tags: ["prices"])
        store.keep_statistics
        cache.keep_statistics
        assert_match(%r{2 items with the prefix views/ were deleted\.}, clear_part("prefix", "views/"))
        assert_match(/1 item with the prefix a\* was deleted\./, clear_part("prefix", "a*"))
        assert_match(/All items with the tag prices were deleted\./, clear_part("tag", "prices"))
        assert_match(/1 item of the namespace shop was deleted\./, clear_part("namespace", "shop"))
        assert_match(/2 items of the keyspace users were deleted\./, clear_part("keyspace", "users"))
        assert_equal %w[axb other], keys
        payloads = events { assert_match(/\d items were deleted/, clear_part("all")) }
        assert_equal [["all", nil]], payloads.map { |payload| payload.values_at(:selection, :actor) }
        assert_empty keys
      end

      test "the question names the text as it is, and of a long one the beginning" do
        { "a b" => "a b", "a " => "a ", "b#{"c" * 70}" => "b#{"c" * 58}…" }.each do |text, shown|
          html = page("clear", by: "prefix", text: text)
          assert_equal "Delete all keys with the prefix #{shown}?", html[%r{<h1>(.*?)</h1>}, 1]
        end
      end

      test "an unknown part and an empty one are refused" do
        cache.set("a", "1")
        [["colour", "x"], ["prefix", ""], ["prefix", "  "], ["", ""]].each do |by, text|
          page("clear")
          send_form("clear", by: by, text: text, token: token_of(page("delete", key: "a")))
          assert_equal 422, last_response.status
        end
        assert_equal ["a"], keys
      end

      test "with read_only nothing offers or does it" do
        cache.set("a", "1")
        token = token_of(page("delete", key: "a"))
        use(read_only: true)
        refute_match(/Delete|Clear/, page("entry", key: "a"))
        refute_match(/Delete|Clear/, page("keys", pattern: "a"))
        %w[delete clear].each do |path|
          get("/larder/#{path}", key: "a")
          assert_equal 404, last_response.status
          send_form(path, key: "a", by: "all", token: token)
          assert_equal 404, last_response.status
        end
        assert_equal ["a"], keys
      end

      test "files of sessions are refused" do
        token = token_of(page("delete", key: "a"))
        cache.set("settings", '{"idle_timeout":60,"anonymous_timeout":60,"max_lifetime":null}')
        before = cache.stats.slice(:hits, :misses)
        %w[delete clear].each do |path|
          get("/larder/#{path}?key=a")
          assert_equal 403, last_response.status
          assert_match(/This file holds sessions/, last_response.body)
          send_form(path, key: "settings", by: "all", token: token)
          assert_equal 403, last_response.status
        end
        assert_equal ["settings"], keys
        assert_equal before, cache.stats.slice(:hits, :misses)
      end

      test "without the name of who does it nothing is deleted" do
        cache.set("a", "1")
        use(actor: ->(_request) { raise "nobody" })
        page("delete", key: "a")
        log = logged { send_form("delete", key: "a") }
        assert_match(/changed nothing, as actor: raised RuntimeError: nobody/, log)
        assert_equal ["a"], keys
      end
    end

    # A store with one behind it, which other machines use too.
    class RemoteDeletionTest < DashboardCase
      # Does not delete while it is down.
      class Behind < ActiveSupport::Cache::MemoryStore
        attr_accessor :down

        private

        def delete_entry(*, **)
          down ? raise(Errno::ECONNREFUSED) : super
        end
      end

      setup do
        @behind = Behind.new
        @store = ActiveSupport::Cache::LarderStore.new(path_of("front.larder"), remote: @behind, namespace: "shop",
                                                                                error_handler: nil)
        use(cache: @store)
        %w[views/1 views/2 users/1].each { |name| @store.write(name, 1) }
        @store.write("tagged", 1, tags: ["prices"])
      end

      def clear_part(by, text = nil)
        page("clear", by: by, text: text)
        send_form("clear", by: by, text: text)
        assert_equal 200, last_response.status, last_response.body
      end

      test "a key is deleted by its name with the namespace, on all machines" do
        html = page("keys")
        assert_match(%r{shop:users/1}, html)
        page("delete", key: "shop:users/1")
        assert_match(/for all processes and machines/, last_response.body)
        send_form("delete", key: "shop:users/1")
        assert_match(/The key was deleted/, last_response.body)
        refute @behind.exist?("shop:users/1")
        assert @behind.exist?("shop:views/1")
        assert_nil @store.read("users/1")
      end

      test "a store behind the file that does not answer is named" do
        page("delete", key: "shop:users/1")
        @behind.down = true
        send_form("delete", key: "shop:users/1")
        assert_equal 503, last_response.status
        assert_match(/The store behind the file does not answer/, last_response.body)
      end

      test "parts and all are deleted behind the file too" do
        clear_part("prefix", "shop:views/")
        assert_nil @store.read("views/1")
        refute @behind.exist?("shop:views/2")
        clear_part("tag", "prices")
        assert_nil @store.read("tagged")
        @store.write("again", 1)
        clear_part("namespace", "shop:")
        assert_nil @store.read("again")
        @store.write("again", 1)
        clear_part("all")
        assert_nil @store.read("again")
      end
    end
  end
end
