# frozen_string_literal: true

# Writes metrics in the text formats of Prometheus and OpenMetrics.

require_relative "family"

module Larder
  class Metrics
    # @api private
    module Text
      # The formats, by their names: what Content-Type says.
      FORMATS = { prometheus: "text/plain; version=0.0.4; charset=utf-8",
                  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8" }.freeze
      OPEN = "application/openmetrics-text"
      private_constant :OPEN

      module_function

      # @param families [Array<Family>]
      # @param format [Symbol] of FORMATS
      # @return [String] UTF-8
      def write(families, format)
        open = format == :openmetrics
        families.map { |family| lines(family, open) }.join << (open ? "# EOF\n" : "")
      end

      # @param accept [String, nil] of a request
      # @return [Symbol] OpenMetrics if the client names it
      def wanted(accept)
        named = accept.to_s.split(",").find { |range| range.strip.downcase.start_with?(OPEN) }
        named && !named.match?(/;\s*q=0(?:\.0*)?\s*(?:;|\z)/i) ? :openmetrics : :prometheus
      end

      # In OpenMetrics the name of a counter is that of its samples without "_total".
      def lines(family, open)
        name = open && family.type == :counter ? family.name.delete_suffix("_total") : family.name
        unit = "# UNIT #{name} #{family.unit}\n" if open && family.unit
        head = "# HELP #{name} #{escaped_help(family.help)}\n# TYPE #{name} #{family.type}\n#{unit}"
        family.samples.inject(head) do |text, sample|
          text << family.name << labels(sample.labels) << " " << sample.value.to_s << "\n"
        end
      end

      def labels(given)
        return "" if given.empty?

        "{#{given.map { |name, value| %(#{name}="#{escaped(value)}") }.join(",")}}"
      end

      def escaped(value)
        value.gsub(/[\\"\n]/) { |character| character == "\n" ? "\\n" : "\\#{character}" }
      end

      def escaped_help(text)
        text.gsub(/[\\\n]/) { |character| character == "\n" ? "\\n" : "\\\\" }
      end
      private_class_method :lines, :labels, :escaped, :escaped_help
    end
  end
end
