# frozen_string_literal: true

# Generates traces: patterns that distinguish policies, each from a seed, the same on every machine.

require_relative "../errors"
require_relative "trace"

module Larder
  module Lab
    module Hitratio
      # Objects by how popular they are: the n-th is asked for 1 / n ** skew times as often as the first (Zipf's law),
      # drawn by inversion of the cumulated shares.
      class Ranks
        # @param skew [Float] 0: all alike
        def initialize(count, skew)
          sum = 0.0
          @cumulated = Array.new(count) { |i| sum += 1.0 / ((i + 1)**skew) }
          @sum = sum
        end

        # @return [Integer] from 0
        def draw(random)
          wanted = random.rand * @sum
          @cumulated.bsearch_index { |share| share >= wanted } || (@cumulated.size - 1)
        end

        # @return [Array<Float>] of the requests, by rank; together 1
        def shares
          [0.0, *@cumulated].each_cons(2).map { |from, to| (to - from) / @sum }
        end
      end

      # `zipf`, or `zipf:objects=1000,skew=0.8`: a pattern and its settings.
      module Synthetic
        # name => what it is, and its settings with their defaults
        PATTERNS = {
          "zipf"  => ["few objects are requested often, most of them rarely", { skew: 0.9 }],
          "scan"  => ["the same, and now and then a row of objects that never come back",
                      { skew: 0.9, every: 20_000, length: 10_000 }],
          "loop"  => ["all objects in a row, again and again: the worst for policies by recency", {}],
          "shift" => ["few objects often, and every so often other ones", { skew: 0.9, every: 50_000 }]
        }.freeze
        # Settings of all of them, and the ranges that values have.
        COMMON = { objects: 100_000, requests: 500_000, seed: 1 }.freeze
        RANGES = { skew: 0.0..5.0, seed: 0..(1 << 62) }.tap { |ranges| ranges.default = 1..20_000_000 }.freeze

        module_function

        # @return [Boolean] does the text name a pattern, and no file?
        def named?(text) = PATTERNS.key?(text[/\A[a-z]+(?=:|\z)/]) && !File.exist?(text)

        # @return [String] settings as they are typed
        def written(settings) = settings.map { |name, value| "#{name}=#{value}" }.join(",")

        # @param text [String] for which named? holds
        # @param defaults [Hash{Symbol=>Integer}] of objects, requests and seed, where the text does not say them
        # @return [Trace] of objects of one size
        # @raise [UsageError] names the setting, and those that there are
        def make(text, defaults = {}) = Trace.new(text, requests(text[/\A[a-z]+/], settings(text, defaults)))

        # @param text [String]
        # @param defaults [Hash{Symbol=>Integer}]
        # @return [Hash{Symbol=>Numeric}]
        # @raise [UsageError] as {make} would
        def settings(text, defaults = {})
          pattern, _, given = text.partition(":")
          known = COMMON.merge(PATTERNS.fetch(pattern).last, defaults)
          given.split(",").each_with_object(known.dup) do |word, settings|
            name, value = word.split("=", 2)
            name = name.to_s.to_sym
            raise UsageError, "#{pattern} knows no #{word.inspect}; it takes #{written(known)}" unless known.key?(name)

            settings[name] = checked(pattern, name, value.to_s.delete("_"))
          end
        end

        def requests(pattern, settings)
          count, objects, every, length = settings.values_at(:requests, :objects, :every, :length)
          return Array.new(count) { |i| i % objects } if pattern == "loop"

          random = Random.new(settings[:seed])
          ranks = Ranks.new(objects, settings[:skew])
          offset = 0
          fresh = objects - 1
          Array.new(count) do |i|
            # The popular objects move by a random part of all.
            offset = random.rand(objects) if pattern == "shift" && (i % every).zero?
            next fresh += 1 if pattern == "scan" && i % (every + length) >= every

            (ranks.draw(random) + offset) % objects
          end
        end

        def checked(pattern, name, value)
          number = name == :skew ? Float(value, exception: false) : Integer(value, 10, exception: false)
          range = RANGES[name]
          return number if number && range.cover?(number)

          raise UsageError, "#{name} of #{pattern} is #{value.inspect}; it takes #{range.min} to #{range.max}"
        end
        private_class_method :requests, :checked
      end
    end
  end
end
