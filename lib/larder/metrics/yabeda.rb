# frozen_string_literal: true

# Gives the metrics to Yabeda, and so to the adapters that it has. Asks for the gem yabeda.

require_relative "../metrics"

module Larder
  class Metrics
    # Gauges of the group :larder, with the names that Prometheus has, which are set each time that Yabeda collects.
    # Counts are gauges as well: they are of the whole machine, and Yabeda's counters count what one process does.
    #
    # @example In config/initializers
    #   # Larder::Metrics::Yabeda.install
    module Yabeda
      GROUP = :larder
      private_constant :GROUP

      module_function

      # @param cache [ActiveSupport::Cache::LarderStore, String, Pathname, nil] a store, or the path of its file; nil:
      #   Rails.cache
      # @return [void]
      # @raise [ArgumentError] the cache is something else
      # @raise [MissingGemError] the gem yabeda is not there
      def install(cache: nil)
        require "larder/codecs/optional_gems"
        Codecs::OptionalGems.need("yabeda", gem: "yabeda", who: "Larder::Metrics::Yabeda")
        source = Source.new(cache)
        rows = Catalogue::ALL.to_h { |row| [Yabeda.gauge_name(row), row] }
        ::Yabeda.configure do
          group GROUP
          rows.each { |name, row| gauge(name, comment: row.help, tags: row.labels.map(&:to_sym)) }
          collect { Yabeda.collect(source) }
        end
      end

      # @api private
      # @param row [Definition, Family]
      # @return [Symbol] within the group
      def gauge_name(row)
        row.name.delete_prefix("#{GROUP}_").to_sym
      end

      # @api private
      # @param source [Source]
      # @return [void]
      def collect(source)
        group = ::Yabeda.groups.fetch(GROUP)
        Reading.collected(source).each do |family|
          gauge = group.public_send(gauge_name(family))
          family.samples.each { |sample| gauge.set(sample.labels.transform_keys(&:to_sym), sample.value) }
        end
      end
    end
  end
end
