# frozen_string_literal: true

# The parts of a reading of the metrics.

module Larder
  class Metrics
    # A value: `labels`: Hash of Strings by String, empty for most; `value`: Numeric.
    Sample = Struct.new(:labels, :value)

    # A metric and its values: `name`: as Prometheus has it; `type`: :counter or :gauge; `unit`: :seconds, :bytes,
    # :ratio or nil; `help`: a sentence; `samples`: Array of {Sample}; `path`: its name with dots, as OpenTelemetry has
    # it.
    Family = Struct.new(:name, :type, :unit, :help, :samples, :path)
  end
end
