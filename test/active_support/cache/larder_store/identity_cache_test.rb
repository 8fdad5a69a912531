# frozen_string_literal: true

require "support/store_case"
require "support/identity_cache"

module LarderStoreTests
  # IdentityCache, which keeps records in the cache of Rails and needs its compare-and-swap to keep them correct.
  class IdentityCacheTest < StoreCase
    class Item < ActiveRecord::Base
      include IdentityCache

      has_many :prices, class_name: "LarderStoreTests::IdentityCacheTest::Price", foreign_key: :item_id,
                        inverse_of: :item
      cache_index :title, unique: true
      cache_has_many :prices, embed: true
    end

    class Price < ActiveRecord::Base
      include IdentityCache

      belongs_to :item, class_name: "LarderStoreTests::IdentityCacheTest::Item", inverse_of: :prices
      cache_belongs_to :item
    end

    setup do
      connect
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Schema.define do
        create_table(:items) { |table| table.string :title, :text }
        create_table(:prices) { |table| table.integer :item_id, :cents }
      end
      Item.table_name, Price.table_name = "items", "prices"
      [Item, Price].each(&:reset_column_information)
      IdentityCache.logger = Logger.new(nil)
      use(store)
    end

    teardown { ActiveRecord::Base.remove_connection }

    def connect
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: path_of("shop.sqlite3"), timeout: 20_000)
    end

    def use(cache)
      _, warnings = capture_io { IdentityCache.cache_backend = cache }
      warnings
    end

    def queries(&block)
      count = 0
      counting = ->(event) { count += 1 unless event.payload[:name] == "SCHEMA" }
      ActiveSupport::Notifications.subscribed(counting, "sql.active_record", &block)
      count
    end

    test "it does not warn, and uses the compare-and-swap; with a remote store that has none it warns" do
      assert_empty use(store)
      assert_instance_of IdentityCache::CacheFetcher, IdentityCache.cache.cache_fetcher
      assert_match(/Missing CAS support/, use(new_store("two.larder", remote: ActiveSupport::Cache::MemoryStore.new)))
    end

    on_both_paths "records are read once, by id and by index, with embedded records, and again after a change" do
      item = Item.create!(title: "moby", text: "dick")
      item.prices.create!(cents: 100)
      read = lambda do
        found = [Item.fetch(item.id), *Item.fetch_by_title("moby"), *Item.fetch_multi(item.id, 99)]
        [found.map(&:text).uniq, found.first.fetch_prices.map(&:cents), Price.fetch(1).fetch_item.id]
      end
      assert_equal [["dick"], [100], item.id], read.call
      assert_equal 0, queries { assert_equal [["dick"], [100], item.id], read.call }
      item.update!(text: "whale")
      item.prices.first.update!(cents: 200)
      assert_equal [["whale"], [200], item.id], read.call
      assert_equal 0, queries { read.call }
      item.destroy!
      assert_nil Item.fetch_by_title("moby")
      assert_raises(ActiveRecord::RecordNotFound) { Item.fetch(item.id) }
    end

    on_both_paths "prefetched associations, and a fetch with a lock for those that fill" do
      items = Array.new(3) { |i| Item.create!(title: "book #{i}").tap { |item| item.prices.create!(cents: i) } }
      prices = Price.fetch_multi(*Price.ids)
      Item.fetch_multi(*items.map(&:id))
      assert_equal(0, queries { Price.prefetch_associations(:item, prices) })
      assert_equal ["book 0", "book 1", "book 2"], prices.map { |price| price.fetch_item.title }.sort
      store.clear
      fetched = Item.fetch(items.first.id, fill_lock_duration: 0.05, lock_wait_tries: 2)
      assert_equal "book 0", fetched.title
      assert_equal 0, queries { Item.fetch(items.first.id, fill_lock_duration: 0.05, lock_wait_tries: 2) }
    end

    # The row that a reader has just read is changed before the reader stores it.
    on_both_paths "a change of another process while this one fills is not hidden by the old row" do
      item = Item.create!(title: "moby", text: "old")
      Item.fetch(item.id)
      [-> { Item.fetch(item.id) }, -> { Item.fetch_multi(item.id) }].each_with_index do |fetch, i|
        Item.find(item.id).update!(text: "before #{i}") # its entry is marked as deleted
        changed = false
        change = lambda do |event|
          next unless event.payload[:sql].match?(/\ASELECT "items"/) && !changed

          changed = true
          in_child { connect && Item.find(item.id).update!(text: "changed #{i}") }
        end
        ActiveSupport::Notifications.subscribed(change, "sql.active_record", &fetch)
        assert changed
        assert_equal "changed #{i}", Item.fetch(item.id).text
      end
    end

    test "of processes that read and change the same records, none leaves an old one in the cache" do
      items = Array.new(3) { |i| Item.create!(title: "item #{i}", text: "0") }
      ActiveRecord::Base.connection_handler.clear_all_connections!
      children = Array.new(3) do |number|
        fork do
          connect
          30.times do |i|
            id = items[i % 3].id
            number.zero? ? Item.find(id).update!(text: i.to_s) : Item.fetch_multi(*items.map(&:id)) && Item.fetch(id)
          end
          exit!(0)
        rescue Exception => e # rubocop:disable Lint/RescueException -- whatever ends the child is shown
          warn e.full_message
          exit!(1)
        end
      end
      assert(children.all? { |child| wait_for(child).success? })
      assert_equal Item.order(:id).pluck(:text), Item.fetch_multi(*items.map(&:id)).sort_by(&:id).map(&:text)
    end

    test "an unusable cache costs the application nothing but time" do
      File.write(path_of("foreign"), "not a cache")
      use(ActiveSupport::Cache.lookup_store(:larder_store, path_of("foreign"), error_handler: nil))
      item = Item.create!(title: "moby", text: "dick")
      assert_equal %w[dick dick], [Item.fetch(item.id), *Item.fetch_multi(item.id)].map(&:text)
    end
  end
end
