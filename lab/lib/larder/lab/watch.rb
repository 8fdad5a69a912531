# frozen_string_literal: true

# Watches the machine while a run goes on: time taken by others, throttling, swapping. What the system does not report
# causes no warning.

require_relative "environment"
require_relative "reports/figures"

module Larder
  module Lab
    # Begins to watch when it is made.
    class Watch
      # Share of a run from which stolen time is mentioned.
      STOLEN = 0.01

      # @param root [String] where /proc and /sys are
      def initialize(root = "/")
        @root = root
        @before = readings
      end

      # @return [Array<String>] sentences
      def warnings
        changes = readings.to_h { |name, value| [name, value && @before[name] && (value - @before[name])] }
        stolen = changes[:stolen].to_f / changes[:total] if changes[:total]&.positive?
        heat, limit, swapped = changes.values_at(:throttled, :held, :swapped).map(&:to_i)
        [("Other virtual machines took #{Reports::Figures.percent(stolen)} of the processors' time (steal)." if
           stolen && stolen > STOLEN),
         ("The processor was throttled for its heat #{heat} times." if heat.positive?),
         ("The control group's limit stopped this run #{limit} times." if limit.positive?),
         ("The machine swapped #{swapped} pages: memory was short." if swapped.positive?)].compact
      end

      private

      # Each is a count that only grows; nil where the system has none.
      def readings
        times = text("proc/stat")[/^cpu (.*)/, 1].to_s.split.map(&:to_i)
        heat = Dir.glob("sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count", base: @root)
        { stolen: times[7], total: times.any? ? times.first(8).sum : nil,
          throttled: heat.sum { |path| text(path).to_i },
          held: text("sys/fs/cgroup/cpu.stat")[/^nr_throttled (\d+)/, 1]&.to_i,
          swapped: text("proc/vmstat").scan(/^pswp(?:in|out) (\d+)/).flatten.sum(&:to_i) }
      end

      def text(path) = Environment.text(File.join(@root, path))
    end
  end
end
