# frozen_string_literal: true

require "support/store_case"
require "support/optional_gem"
require "larder/metrics"

module Larder
  class Metrics
    class YabedaTest < StoreCase
      MISSING = OptionalGem.missing("yabeda", "yabeda/test_adapter")

      setup { skip MISSING if MISSING }

      test "a gem that is missing is named" do
        output = run_ruby(<<~RUBY)
          require "larder/metrics"
          require "larder/codecs/optional_gems"
          def (Larder::Codecs::OptionalGems).require(name) = raise(LoadError, "no such file -- \#{name}")
          begin
            Larder::Metrics::Yabeda.install
          rescue Larder::MissingGemError => e
            print e.message
          end
        RUBY
        assert_equal "Larder::Metrics::Yabeda needs the gem yabeda: add `gem \"yabeda\"` to the Gemfile " \
                     "(no such file -- yabeda)", output
      end
      teardown { ::Yabeda.reset! unless MISSING }

      test "all metrics are gauges of a group, with the names that Prometheus has" do
        store.write("products/1", 1)
        store.read("products/1")
        store.cache.keep_statistics
        values = collected
        assert_equal([{ {} => 1 }] * 2, values.values_at(:up, :hits_total))
        assert_equal 1, values[:keyspace_hits_total][{ keyspace: "products" }]
        assert_equal({ { version: VERSION } => 1 }, values[:build_info])
        assert_equal "Reads that the file answered.", ::Yabeda.metrics["larder_hits_total"].comment
        assert_equal Metrics::Catalogue::ALL.map(&:name).sort, ::Yabeda.metrics.keys.sort
      end

      test "each collection sets the values again" do
        Yabeda.install(cache: store)
        ::Yabeda.configure!
        counts = Array.new(2) do
          store.read("none")
          values[:misses_total].values
        end
        assert_equal [[1], [2]], counts
      end

      test "an application whose cache is another store collects its other metrics all the same" do
        Yabeda.install
        ::Yabeda.configure!
        assert_equal [0], values[:up].values
      end

      test "an object that is not a store is refused" do
        assert_raises(ArgumentError) { Yabeda.install(cache: 7) }
      end

      private

      def collected
        Yabeda.install(cache: store)
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
