# frozen_string_literal: true

# Gives the metrics to OpenTelemetry. The gem opentelemetry-metrics-sdk is asked for by the provider that is given.

require_relative "../metrics"

module Larder
  class Metrics
    # One observable gauge, `larder.up`, reads all metrics each time that a reader of the provider collects, and records
    # the others as gauges: so all are of one moment, and have their attributes, which the callbacks of Ruby's SDK
    # cannot have.
    #
    # Counts are gauges, too. They are counts of the machine since the file was made, and the SDK adds up what an
    # observable counter reports (0.12). Install it in one process of each machine: each process would export the same
    # figures.
    #
    # @example
    #   # Larder::Metrics::OpenTelemetry.install(OpenTelemetry.meter_provider)
    class OpenTelemetry
      UNITS = { seconds: "s", bytes: "By", ratio: "1", nil => "1" }.freeze
      private_constant :UNITS

      # @param meter_provider [#meter] as OpenTelemetry.meter_provider
      # @param cache [ActiveSupport::Cache::LarderStore, String, Pathname, nil] a store, or the path of its file; nil:
      #   Rails.cache
      # @return [OpenTelemetry]
      # @raise [ArgumentError] the first is not a provider of meters, or the cache is something else
      # @raise [MissingGemError] the gem opentelemetry-metrics-api is not there
      def self.install(meter_provider, cache: nil)
        new(meter_provider, cache: cache)
      end

      # @param (see .install)
      # @raise (see .install)
      def initialize(meter_provider, cache: nil)
        need_gem
        unless meter_provider.respond_to?(:meter)
          raise ::ArgumentError, "#{meter_provider.class} is not a provider of meters; give " \
                                 "OpenTelemetry.meter_provider"
        end

        @source = Source.new(cache)
        meter = meter_provider.meter("larder", version: VERSION)
        up, *others = Catalogue::ALL
        meter.create_observable_gauge("larder.#{up.id}", callback: -> { observe }, unit: "1", description: up.help)
        @gauges = others.to_h { |row| [row.name, gauge(meter, row)] }
      end

      private

      def need_gem
        require "larder/codecs/optional_gems"
        Codecs::OptionalGems.need("opentelemetry-metrics-api", gem: "opentelemetry-metrics-sdk",
                                                               who: "Larder::Metrics::OpenTelemetry")
      end

      def gauge(meter, row)
        meter.create_gauge("larder.#{row.id}", unit: UNITS.fetch(row.unit), description: row.help)
      end

      # @return [Integer] the value of `larder.up`
      def observe
        up, *others = Reading.collected(@source)
        others.each do |family|
          family.samples.each { |sample| @gauges.fetch(family.name).record(sample.value, attributes: of(sample)) }
        end
        up.samples.first.value
      end

      def of(sample)
        sample.labels.transform_keys { |name| "larder.#{name}" }
      end
    end
  end
end
