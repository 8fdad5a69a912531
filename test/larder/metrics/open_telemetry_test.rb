# frozen_string_literal: true

require "support/store_case"
require "support/optional_gem"
require "larder/metrics"

module Larder
  class Metrics
    class OpenTelemetryTest < StoreCase
      MISSING = OptionalGem.missing("opentelemetry-metrics-sdk")

      setup { skip MISSING if MISSING }

      test "a gem that is missing is named" do
        output = run_ruby(<<~RUBY)
          require "larder/metrics"
          require "larder/codecs/optional_gems"
          def (Larder::Codecs::OptionalGems).require(name) = raise(LoadError, "no such file -- \#{name}")
          begin
            Larder::Metrics::OpenTelemetry.install(nil)
          rescue Larder::MissingGemError => e
            print e.message
          end
        RUBY
        assert_equal "Larder::Metrics::OpenTelemetry needs the gem opentelemetry-metrics-sdk: add " \
                     "`gem \"opentelemetry-metrics-sdk\"` to the Gemfile " \
                     "(no such file -- opentelemetry-metrics-api)", output
      end

      test "all metrics are exported with their units, descriptions and attributes" do
        work
        found = collected(provider { |given| OpenTelemetry.install(given, cache: store) })
        assert_equal [["s", "By", "1"], [1, 1, 2]],
                     [found.values_at("larder.oldest_age", "larder.size", "larder.fullness").map(&:unit),
                      %w[larder.up larder.hits larder.misses].map { |name| found[name].data_points.first.value }]
        assert_equal "Reads that the file answered.", found["larder.hits"].description
        by_keyspace = found["larder.keyspace.hits"].data_points.to_h { |point| [point.attributes, point.value] }
        assert_equal 1, by_keyspace[{ "larder.keyspace" => "products" }]
        assert_equal ["larder", VERSION], found["larder.up"].instrumentation_scope.to_a
      end

      test "each collection has the values of its moment" do
        work
        reader = provider { |given| OpenTelemetry.install(given, cache: store) }
        counts = [0, 1, 3].map do |reads|
          reads.times { store.read("products/1") }
          collected(reader)["larder.hits"].data_points.map(&:value)
        end
        assert_equal [[1], [2], [5]], counts
      end

      test "a file that cannot be used is down, and exports nothing else" do
        File.write(path_of("text.larder"), "text")
        found = collected(provider { |given| OpenTelemetry.install(given, cache: path_of("text.larder")) })
        assert_equal({ "larder.up" => [0] }, found.transform_values { |metric| metric.data_points.map(&:value) })
      end

      test "so is an application whose cache is another store" do
        found = collected(provider { |given| OpenTelemetry.install(given) })
        assert_equal [0], found["larder.up"].data_points.map(&:value)
      end

      # The reason why counts are gauges. If it fails, the SDK was repaired, and they can be observable counters.
      test "the SDK adds up what an observable counter reports" do
        reader = provider { |given| given.meter("test").create_observable_counter("count", callback: -> { 5 }) }
        assert_equal([5, 10], Array.new(2) { collected(reader)["count"].data_points.first.value })
      end

      test "an object that is not a provider is refused" do
        error = assert_raises(ArgumentError) { OpenTelemetry.install(store, cache: store) }
        assert_equal "ActiveSupport::Cache::LarderStore is not a provider of meters; give " \
                     "OpenTelemetry.meter_provider", error.message
      end

      private

      def work
        store.write("products/1", 1)
        store.read("products/1")
        2.times { store.read("users/1") }
        store.cache.keep_statistics
      end

      def provider
        made = ::OpenTelemetry::SDK::Metrics::MeterProvider.new
        reader = ::OpenTelemetry::SDK::Metrics::Export::InMemoryMetricPullExporter.new
        made.add_metric_reader(reader)
        yield made
        reader
      end

      def collected(reader)
        reader.reset
        reader.pull
        reader.metric_snapshots.to_h { |metric| [metric.name, metric] }
      end
    end
  end
end
