# frozen_string_literal: true

# Watches the machine while a run goes on: time taken by others, throttling, swapping, and a first round that was
# slower than the rest. What the system does not report causes no warning.

require_relative "reports/figures"
require_relative "bench/stats"

module Larder
  module Lab
    # Begins to watch when it is made.
    #
    # @example
    #   watch = Watch.new
    #   chapter = measure
    #   chapter.warnings.concat(watch.warnings(chapter.measures))
    class Watch
      # Shares of a run from which they are mentioned.
      STOLEN = 0.01
      # How much slower the first round must be.
      SLOW_START = 1.1
      # Rounds without which a first one cannot be told from the rest.
      LEAST_ROUNDS = 4

      # @param root [String] where /proc and /sys are
      def initialize(root = "/")
        @root = root
        @before = readings
      end

      # @param measures [Array<Document::Measure>] of what was measured meanwhile
      # @return [Array<String>] sentences
      def warnings(measures = [])
        now = readings
        changes = now.to_h { |name, value| [name, value && @before[name] && (value - @before[name])] }
        [stolen(changes), throttled(changes), swapped(changes), slow_start(measures)].compact
      end

      private

      # Each is a count that only grows; nil where the system has none.
      def readings
        times = file("proc/stat")&.lines&.first.to_s.split.drop(1).map(&:to_i)
        { stolen: times[7], total: times.any? ? times.first(8).sum : nil, throttled: throttle_counts,
          held: file("sys/fs/cgroup/cpu.stat")&.[](/^nr_throttled (\d+)/, 1)&.to_i,
          swapped: file("proc/vmstat")&.scan(/^pswp(?:in|out) (\d+)/)&.flatten&.sum(&:to_i) }
      end

      def throttle_counts
        files = Dir.glob(File.join(@root, "sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count"))
        files.sum { |path| File.read(path).to_i } if files.any?
      rescue SystemCallError
        nil
      end

      def file(path)
        File.read(File.join(@root, path))
      rescue SystemCallError
        nil
      end

      def stolen(changes)
        return unless changes[:stolen] && changes[:total]&.positive?

        share = changes[:stolen].fdiv(changes[:total])
        percent = Reports::Figures.percent(share)
        "Other virtual machines took #{percent} of the processors' time (steal)." if share > STOLEN
      end

      def throttled(changes)
        heat, limit = changes.values_at(:throttled, :held)
        return "The processor was throttled for its heat #{heat} times." if heat&.positive?

        "The control group's limit stopped this run #{limit} times." if limit&.positive?
      end

      def swapped(changes)
        "The machine swapped #{changes[:swapped]} pages: memory was short." if changes[:swapped]&.positive?
      end

      # Over all measures, so that chance in one of them does not speak for the run.
      def slow_start(measures)
        enough = measures.select { |measure| measure.unit == "seconds" && measure.samples.size >= LEAST_ROUNDS }
        return if enough.empty?

        ratio = Bench::Stats.median(enough.map do |measure|
          first, *rest = measure.samples
          first / Bench::Stats.median(rest)
        end)
        "The first round took #{Reports::Figures.significant(ratio)} times as long as the others." if ratio > SLOW_START
      end
    end
  end
end
