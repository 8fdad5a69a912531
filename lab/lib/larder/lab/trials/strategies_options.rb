# frozen_string_literal: true

# Parses the options of `larder-lab strategies`: lists of records of several lengths on a server.

require_relative "options"

module Larder
  module Lab
    module Trials
      # The published lengths, or a sweep between them.
      class StrategiesOptions < Options
        PUBLISHED = [50_000, 50].freeze
        SWEEP = [10, 50, 200, 1000, 5000, 20_000, 50_000].freeze

        # @return [String] contenders
        def list
          ["Strategies (--only, --except):", *listed(codecs)].join("\n")
        end

        private

        def trials
          contenders.product(lengths).map do |contender, length|
            Trial.new(name: contender.name, group: group(length), server: "redis",
                      job: { payload: "records", count: length, **contender.to_job })
          end
        end

        def titles
          lengths.to_h { |length| [group(length), "#{group(length)} {Id, PropertyA..D} in Redis"] }
        end

        def group(length)
          "#{Reports::Figures.thousands(length)} records"
        end

        def lengths
          @given[:lengths] || (@sweep ? SWEEP : setting(:lengths) || PUBLISHED)
        end

        def choice_options(options)
          options.separator("\nWhat:")
          options.on("--only A,B", Array, "these strategies") { |names| @given[:only] = names }
          options.on("--except A,B", Array, "all strategies but these") { |names| @given[:except] = names }
          options.on("--lengths A,B", Array, "of the lists (default 50000,50)") do |texts|
            @given[:lengths] = texts.map { |text| positive("--lengths", Integer(text, exception: false) || 0) }
          end
          options.on("--sweep", "lengths from 10 to 50,000 records") { @sweep = true }
          options.on("--redis-url URL", "a running Redis; the lab writes and deletes", "one key of its own") do |url|
            @urls["redis"] = url
          end
          options.on("--list", "list strategies") { @list = true }
        end
      end
    end
  end
end
