# frozen_string_literal: true

require "support/store_case"
require "support/optional_gem"
require "larder/metrics"

module Larder
  class Metrics
    class YabedaTest < StoreCase
      MISSING = OptionalGem.missing("yabeda", "yabeda/test_adapter")

      setup { skip MISSING if MISSING }
      teardown { ::Yabeda.reset! unless MISSING }

      test "all metrics are gauges of a group, with the names that Prometheus has" do
        store.write("products/1", 1)
        store.read("products/1")
        store.cache.keep_statistics
        values = collected
        assert_equal([{ {} => 1 }] * 2, values.values_at(:up, :hits_total))
        assert_equal 1, values[:keyspace_hits_total][{ keyspace: "products" }]
        assert_equal({ { version: VERSION } => 1 }, values[:build_info])
        assert_equal "Reads that found something.", ::Yabeda.metrics["larder_hits_total"].comment
        assert_equal Metrics::Catalogue::ALL.map(&:name).sort, ::Yabeda.metrics.keys.sort
      end

      test "each collection sets the values again" do
        Yabeda.install(store)
        ::Yabeda.configure!
        counts = Array.new(2) do
          store.read("none")
          values[:misses_total].values
        end
        assert_equal [[1], [2]], counts
      end

      test "an object that is not a store is refused" do
        assert_raises(ArgumentError) { Yabeda.install(7) }
      end

      private

      def collected
        Yabeda.install(store)
        ::Yabeda.configure!
        values
      end

      def values
        adapter = ::Yabeda::TestAdapter.instance
        adapter.reset!
        ::Yabeda.register_adapter(:test, adapter)
        ::Yabeda.collect!
        adapter.gauges.transform_keys(&:name)
      end
    end
  end
end
