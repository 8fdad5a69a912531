# frozen_string_literal: true

# The part that measures stores in applications that are watched: bench/monitors/measure.rb, in a process for each
# monitor, because what these patch stays patched.

require "json"
require_relative "figure"
require_relative "median"
require_relative "programs"

module Bench
  # Calls under a tracer.
  module Monitors
    ABOUT = "Rails: calls that Datadog, Sentry or OpenTelemetry watches (installs their gems)"
    NAMES = %w[wrapper datadog sentry opentelemetry].freeze
    CALLS = ["fetch", "read", "write", "read_multi of 50"].freeze
    OPTIONS = { quick: %w[3 400], full: %w[15 1000] }.freeze
    GEMFILE = File.join(House::ROOT, "bench/monitors/Gemfile")

    module_function

    # @param mode [Symbol] :quick or :full
    # @param directory [String] for files
    # @return [Array<Bench::Figure>]
    def run(mode, directory)
      bundle("install", "--quiet")
      NAMES.flat_map do |name|
        output = bundle("exec", "ruby", "bench/monitors/measure.rb", name, *OPTIONS.fetch(mode), directory)
        output.lines.flat_map { |line| figures(name, JSON.parse(line)) }
      end
    end

    # The time of each call, and how many times as long as larder the others took.
    # @param monitor [String]
    # @param measured [Hash] "call", and "seconds" of each store in each round
    # @return [Array<Bench::Figure>]
    def figures(monitor, measured)
      rows = measured.fetch("seconds")
      larder = rows.fetch("larder")
      rows.flat_map do |row, seconds|
        name = "#{monitor}, #{measured.fetch("call")}: #{row}"
        [Figure.estimated(name, "us", seconds.map { |second| second * 1e6 }),
         Figure.estimated("#{name} as larder", "x", Median.paired_ratios(seconds, larder))]
      end
    end

    def bundle(*arguments)
      Programs.run(House::Environment.variables(GEMFILE), "bundle", *arguments)
    end

    private_class_method :bundle
  end
end
