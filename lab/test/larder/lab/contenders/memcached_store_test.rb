# frozen_string_literal: true

require "test_helper"
require "larder/lab/hosting"
require "larder/lab/contenders"

module Larder
  module Lab
    module Contenders
      class MemcachedStoreTest < ActiveSupport::TestCase
        test "it answers as a Rails store does, but for an absent key that another computes" do
          needs_server("memcached")
          with_directory do |dir|
            Hosting.for(MemcachedLockStore, File.join(dir, "cache")) do |endpoint|
              store = MemcachedLockStore.new(dir: dir, endpoint: endpoint).open.store
              assert_equal "made", store.fetch(["key", 1]) { nested(store) }
              assert_equal "made", store.fetch(["key", 1]) { flunk "it is there" }
              assert_equal "made", store.read("key/1")
              store.write("key/1", "written")
              assert_equal "written", store.read(["key", 1])
              store.delete(["key", 1])
              assert_nil store.read(["key", 1])
              store.write("other", "kept")
              store.clear
              assert_nil store.read("other")
            end
          end
        end

        private

        def nested(store)
          assert_equal "", store.fetch(["key", 1]) { flunk "another computes" }
          "made"
        end
      end
    end
  end
end
