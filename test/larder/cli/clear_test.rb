# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "json"
require "rack/session/larder"
require "support/command"

module Larder
  module CLI
    # `larder clear` in processes of its own, on a file that this one has open.
    class ClearTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Processes
      include Command

      def file
        path_of("test.larder")
      end

      test "everything goes, at once for all processes, and is counted" do
        cache.set_multi((0...1500).to_h { |i| ["k#{i}", "v"] })
        cache.set("kept", "v", pin: true)
        assert_equal "Deleted 1,501 items from #{file}.\n", done("clear", file)
        assert_equal [nil, nil, 0], [cache.get("k1"), cache.get("kept"), cache.stats[:items]]
        assert_equal "Deleted 0 items from #{file}.\n", done("clear", file)
      end

      test "with a prefix its keys alone go" do
        cache.set_multi((0...2500).to_h { |i| ["views/#{i}", "v"] })
        cache.set_multi({ "view" => "1", "users/views/1" => "2" })
        assert_equal "Deleted 2,500 items with the prefix views/ from #{file}.\n",
                     done("clear", file, "--prefix", "views/")
        assert_equal %w[users/views/1 view], cache.each_key.sort
        answer = JSON.parse(done("clear", file, "--prefix=view", "--json"))
        assert_equal({ "file" => file, "prefix" => "view", "deleted" => 1 }, answer)
        assert_equal 2, refused(/--prefix is empty/, "clear", file, "--prefix", "")
      end

      test "with a namespace the entries of its stores alone go" do
        cache.set("shopping", "1")
        shop, blog = %w[shop blog].map do |name|
          ActiveSupport::Cache.lookup_store(:larder_store, file, namespace: name)
        end
        [shop, blog].each { |store| store.write("page", "v") }
        assert_equal "Deleted 1 item of the namespace shop from #{file}.\n", done("clear", file, "--namespace", "shop")
        assert_equal [nil, "v", "1"], [shop.read("page"), blog.read("page"), cache.get("shopping")]
        shop.write("page", "v")
        assert_equal({ "file" => file, "prefix" => nil, "namespace" => "shop:", "deleted" => 1 },
                     JSON.parse(done("clear", file, "--namespace=shop:", "--json")))
      end

      test "with a keyspace its keys alone go, as the application names keyspaces" do
        path = path_of("named.larder")
        prices = ["products/*/price"]
        store = ActiveSupport::Cache.lookup_store(:larder_store, path, namespace: "shop", keyspaces: prices)
        %w[products/7/price products/8/price products/7 views/a/_row:0a1b/products/7].each { |key| store.write(key, 1) }
        store.cache.keep_statistics
        listed = done("keys", "--file", path, "--keyspace", "products/*/price", "--names").lines(chomp: true)
        assert_equal %w[shop:products/7/price shop:products/8/price], listed.sort
        assert_equal "Deleted 2 items of the keyspace products/*/price from #{path}.\n",
                     done("clear", path, "--keyspace", "products/*/price")
        assert_equal 1, JSON.parse(done("clear", path, "--keyspace", "views/a/_row", "--json"))["deleted"]
        assert_equal ["shop:products/7"], store.cache.each_key.to_a
      end

      test "a cache without statistics has no keyspaces" do
        cache.set_multi({ "users/1" => "1", "users:2" => "2" })
        message = /there are no statistics of .*, so its namespaces and keyspaces are not known; use --prefix/
        assert_equal 1, refused(message, "clear", file, "--keyspace", "users")
        assert_equal 1, refused(message, "keys", "--file", file, "--keyspace", "users")
        assert_equal 2, cache.stats[:items]
      end

      test "with a tag the items with it alone go" do
        cache
        store = ActiveSupport::Cache.lookup_store(:larder_store, file)
        store.write("a", 1, tags: ["products/7", "red"])
        store.write("b", 2, tags: ["products/8"])
        store.write("products/7", 3)
        assert_equal "Deleted all items with the tag products/7 from #{file}.\n",
                     done("clear", file, "--tag", "products/7")
        assert_equal [nil, 2, 3], [store.read("a"), store.read("b"), store.read("products/7")]
        assert_equal({ "file" => file, "prefix" => nil, "tag" => "products/8", "deleted" => nil },
                     JSON.parse(done("clear", file, "--tag", "products/8", "--json")))
        assert_equal [nil, 3], [store.read("b"), store.read("products/7")]
      end

      test "one selection is enough" do
        cache.set("a", "1")
        assert_equal 2, refused(/give either --prefix or --tag/, "clear", file, "--prefix", "a", "--tag", "b")
        assert_equal 2, refused(/give either --tag or --tag/, "clear", file, "--tag", "a", "--tag", "b")
        assert_equal 2, refused(/--tag is empty/, "clear", file, "--tag", "")
        assert_equal 2, refused(/--namespace is empty/, "clear", file, "--namespace", "")
        assert_equal "1", cache.get("a")
      end

      test "a prefix can have bytes that cannot be typed" do
        cache.set_multi({ "a\0b" => "1", "ab" => "2" })
        assert_equal "Deleted 1 item with the prefix a\\x00 from #{file}.\n", done("clear", file, "--prefix", "a\\x00")
      end

      test "a file that is no cache is refused and left alone" do
        File.write(path_of("notes"), "to be kept " * 1000)
        assert_equal 1, refused(/notes: the file is not a Larder cache/, "clear", path_of("notes"))
        assert_equal "to be kept " * 1000, File.read(path_of("notes"))
        assert_equal 1, refused(/there is no file/, "clear", path_of("nowhere"))
      end

      test "sessions are not a cache" do
        repository = Rack::Session::Larder.new(->(_env) { [200, {}, []] }, { file: file, size: SIZE }).repository
        repository.begin("s/key", { "cart" => 1 })
        assert_equal 1, refused(/holds an application's sessions.*larder sessions logout --all --file #{file}/,
                                "clear", file)
        assert_equal 1, Larder::Sessions::Statistics.new(repository).stats[:sessions]
        repository.backend.cache.close
      end

      test "a cache that has a key named settings is a cache" do
        cache.set("settings", '{"colour":"blue"}')
        assert_equal "Deleted 1 item from #{file}.\n", done("clear", file)
      end
    end
  end
end
