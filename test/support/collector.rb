# frozen_string_literal: true

# A garbage collector that does its worst during every test, as LARDER_GC says: "compact" moves every object it may at
# each collection, "stress" collects young objects at each allocation. For bin/test --matrix; takes minutes.

# Before each test, and undone after it.
module Collector
  MODES = {
    "compact" => [-> { GC.compact && (GC.auto_compact = true) }, -> { GC.auto_compact = false }],
    "stress" => [-> { GC.stress = 1 }, -> { GC.stress = false }]
  }.freeze

  def before_setup
    super
    Collector.mode.first.call
  end

  def after_teardown
    Collector.mode.last.call
    super
  end

  # @return [Array(Proc, Proc)]
  def self.mode
    MODES.fetch(ENV.fetch("LARDER_GC"))
  end
end

ActiveSupport::TestCase.prepend(Collector)
