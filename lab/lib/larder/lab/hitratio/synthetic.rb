# frozen_string_literal: true

# Generates traces: patterns that distinguish policies, each from a seed, the same on every machine.

require_relative "../errors"
require_relative "ranks"
require_relative "trace"

module Larder
  module Lab
    module Hitratio
      # `zipf`, or `zipf:objects=1000,skew=0.8`: a pattern and what it is told.
      module Synthetic
        # name => what it is, and its settings with their defaults
        PATTERNS = {
          "zipf"  => ["few objects are asked for often, most of them rarely", { skew: 0.9 }],
          "scan"  => ["the same, and now and then a row of objects that nobody asks for again",
                      { skew: 0.9, every: 20_000, length: 10_000 }],
          "loop"  => ["all objects in a row, again and again: the worst for policies by recency", {}],
          "shift" => ["few objects often, and every so often other ones", { skew: 0.9, every: 50_000 }]
        }.freeze
        # What all of them take.
        COMMON = { objects: 100_000, requests: 500_000, seed: 1 }.freeze
        MOST = 20_000_000
        private_constant :COMMON, :MOST

        module_function

        # @param text [String]
        # @return [Boolean] does it name a pattern, and no file?
        def named?(text)
          PATTERNS.key?(text[/\A[a-z]+/]) && text.match?(/\A[a-z]+(?::|\z)/) && !File.exist?(text)
        end

        # @param settings [Hash{Symbol=>Numeric}]
        # @return [String] as they are typed
        def written(settings)
          settings.map { |name, value| "#{name}=#{value}" }.join(",")
        end

        # @param text [String] for which named? holds
        # @param defaults [Hash{Symbol=>Integer}] of objects, requests and seed, where the text does not say them
        # @return [Trace] of objects of one size
        # @raise [UsageError] names the setting, and those that there are
        def make(text, defaults = {})
          pattern, _, given = text.partition(":")
          settings = settings(pattern, given, defaults)
          Trace.new(text, requests(pattern, settings))
        end

        # @param text [String] for which named? holds
        # @return [void]
        # @raise [UsageError] as {make} would
        def check(text)
          pattern, _, given = text.partition(":")
          settings(pattern, given)
        end

        def requests(pattern, settings)
          random = Random.new(settings[:seed])
          count, objects = settings.values_at(:requests, :objects)
          return Array.new(count) { |i| i % objects } if pattern == "loop"

          ranks = Ranks.new(objects, settings[:skew])
          case pattern
          when "zipf" then Array.new(count) { ranks.draw(random) }
          when "shift" then shifting(ranks, random, count, settings)
          else scanning(ranks, random, count, settings)
          end
        end

        # Who is popular moves by a part of all that has nothing to do with the last one.
        def shifting(ranks, random, count, settings)
          objects, every = settings.values_at(:objects, :every)
          offset = 0
          Array.new(count) do |i|
            offset = random.rand(objects) if (i % every).zero?
            (ranks.draw(random) + offset) % objects
          end
        end

        def scanning(ranks, random, count, settings)
          objects, every, length = settings.values_at(:objects, :every, :length)
          fresh = objects
          Array.new(count) do |i|
            next ranks.draw(random) if i % (every + length) < every

            (fresh += 1) - 1
          end
        end

        def settings(pattern, given, defaults = {})
          known = COMMON.merge(PATTERNS.fetch(pattern).last, defaults)
          given.split(",").each_with_object(known.dup) do |word, settings|
            name, value = word.split("=", 2)
            name = name.to_s.to_sym
            unless known.key?(name)
              raise UsageError, "#{pattern} knows no #{word.inspect}; it takes #{written(known)}"
            end

            settings[name] = checked(pattern, name, value)
          end
        end

        def checked(pattern, name, value)
          value = value.to_s.delete("_")
          number = name == :skew ? Float(value, exception: false) : Integer(value, 10, exception: false)
          range = { skew: 0.0..5.0, seed: 0..(1 << 62) }.fetch(name, 1..MOST)
          return number if number && range.cover?(number)

          raise UsageError, "#{name} of #{pattern} is #{value.inspect}; it takes #{range.min} to #{range.max}"
        end
        private_class_method :requests, :shifting, :scanning, :settings, :checked
      end
    end
  end
end
