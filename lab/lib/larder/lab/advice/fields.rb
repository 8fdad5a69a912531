# frozen_string_literal: true

# Lists the inputs of an advice: each as an option, as a question in a terminal, and with its default. A new input is
# one line here.

require "etc"
require_relative "../environment"
require_relative "../units"

module Larder
  module Lab
    module Advice
      # key: of the answer; flag: as an option; words: for --help; ask: in a terminal; default: text, or what answers it
      # from the {Question}; parse: text and flag to a value; apt: from the {Question}, is it worth asking?
      Field = Struct.new(:key, :flag, :words, :ask, :default, :parse, :apt, keyword_init: true) do
        # @return [Boolean] is it a yes or no?
        def yes_or_no?
          parse.equal?(Fields::YES)
        end

        # @return [String] "--rtt"
        def option
          flag[/--[a-z-]+/]
        end

        # @param question [Question]
        # @return [String]
        def default_for(question)
          default.respond_to?(:call) ? default.call(question) : default
        end

        # @param question [Question]
        # @return [Boolean]
        def apt_for?(question)
          apt.nil? || apt.call(question)
        end
      end

      # Everything that is asked.
      module Fields
        # Of a round trip: to a server on the same host, as it is measured.
        LOCAL = "local"
        # Of a lifetime.
        NEVER = "never"
        WHO = %w[hosts processes nobody].freeze
        POLICIES = %w[unknown allkeys-lru allkeys-lfu allkeys-random volatile-lru volatile-lfu volatile-random
                      volatile-ttl noeviction].freeze
        YESES = { "yes" => true, "y" => true, "no" => false, "n" => false }.freeze

        # Memory that is taken for that of a host where this machine does not tell its own.
        SOME_MEMORY = 8_000_000_000

        refuse = ->(text, option, forms) { raise UsageError, "#{option} #{text}: #{forms}" }
        count = lambda do |text, option|
          Integer(text, 10, exception: false)&.then { |n| n if n.positive? } ||
            refuse.call(text, option, "a whole number from 1 on")
        end
        ratio = lambda do |text, option|
          number = Float(text, exception: false)
          number&.finite? && number >= 0 ? number : refuse.call(text, option, "a number of reads, such as 20 or 0.5")
        end
        one_of = lambda do |names|
          ->(text, option) { names.include?(text) ? text : refuse.call(text, option, "one of #{names.join(", ")}") }
        end
        trip = ->(text, option) { Units.duration(text, option) unless text == LOCAL }
        share = lambda do |text, option|
          number = Float(text.delete_suffix("%"), exception: false)
          number /= 100 if number && text.end_with?("%")
          number && (0.0..1.0).cover?(number) ? number : refuse.call(text, option, "a share, such as 90% or 0.9")
        end
        rate = lambda do |text, option|
          number = Float(text, exception: false)
          number&.finite? && number >= 0 ? number : refuse.call(text, option, "a number of changes, such as 10 or 0.5")
        end
        never = ->(text, option) { Units.duration(text, option) unless text == NEVER }
        several = ->(question) { question.hosts > 1 && question.shared_by == "hosts" }
        some = lambda do |text, option|
          Units.size(text, option).then { |n| n.positive? ? n : refuse.call(text, option, "more than 0") }
        end
        # @!visibility private
        YES = lambda do |text, option|
          YESES.fetch(text.downcase) { refuse.call(text, option, "yes or no") }
        end

        # @return [Array<Field>] in the order in which they are asked
        ALL = [
          Field.new(key: :payload, flag: "--payload SOURCE", default: "products",
                    words: ["a value to cache: a file (.json, .marshal, .rb,",
                            "any), ruby:EXPRESSION, or one of --list"],
                    ask: "A value that you cache: a file, ruby:EXPRESSION, products, hash, text",
                    parse: ->(text, _) { text }),
          Field.new(key: :reads, flag: "--reads N", words: ["reads for each write"], default: "10", parse: ratio,
                    ask: "How often is a value read for each time it is written?"),
          Field.new(key: :hosts, flag: "--hosts N", words: ["machines that run the application"], default: "1",
                    ask: "On how many machines does the application run?", parse: count),
          Field.new(key: :shared_by, flag: "--shared-by WHO", parse: one_of.call(WHO),
                    words: ["who must see the same values: hosts, processes", "(of one host) or nobody"],
                    default: ->(question) { question.hosts > 1 ? "hosts" : "processes" },
                    ask: "Who must share what is cached: hosts, processes or nobody?"),
          Field.new(key: :rtt, flag: "--rtt TIME", parse: trip,
                    words: ["round trip to a server, as 0.5ms; local: on the",
                            "same host, measured (local; of several hosts 0.5ms)"],
                    default: ->(question) { question.hosts > 1 ? "0.5ms" : LOCAL },
                    ask: "How long is a round trip to your cache server (local: it is on the same host)?"),
          Field.new(key: :bandwidth, flag: "--bandwidth BITS", ask: "What bandwidth does one connection to it get?",
                    words: ["to a server, as 1gbit; none: no limit", "(none; of several hosts 1gbit)"],
                    default: ->(question) { question.hosts > 1 ? "1gbit" : "none" },
                    parse: Units.method(:bandwidth)),
          Field.new(key: :regions, flag: "--regions N", words: ["regions that the machines are in"], default: "1",
                    ask: "In how many regions are the machines?", parse: count),
          Field.new(key: :region_rtt, flag: "--region-rtt TIME", words: ["round trip between regions"], default: "60ms",
                    ask: "How long is a round trip between regions?", parse: Units.method(:duration),
                    apt: ->(question) { question.regions > 1 }),
          Field.new(key: :hit_ratio, flag: "--hit-ratio SHARE", default: "90%", parse: share, apt: several,
                    words: ["reads that a copy on the machine itself would", "answer; larder-lab machines measures it"],
                    ask: "Which share of its reads would a machine answer from copies of its own?"),
          Field.new(key: :changes, flag: "--changes N", words: ["changes a second by all machines"], default: "10",
                    ask: "How many values do all machines change in a second?", parse: rate, apt: several),
          Field.new(key: :stale, flag: "--stale TIME", default: "5s", parse: Units.method(:duration), apt: several,
                    words: ["how long after a change on one machine others",
                            "may answer the old value, whatever fails"],
                    ask: "How long after a change may another machine answer the old value, whatever fails?"),
          Field.new(key: :expires_in, flag: "--expires-in TIME", words: ["after which values expire anyway"],
                    default: NEVER, parse: never, apt: ->(question) { several.call(question) && question.regions > 1 },
                    ask: "After which time do values expire anyway?"),
          Field.new(key: :size, flag: "--size BYTES", words: ["all that is cached, before compression"],
                    default: "1gb", ask: "How much is cached in all, before compression?", parse: some),
          Field.new(key: :memory, flag: "--memory BYTES", words: ["a machine's memory that a cache may take"],
                    ask: "How much memory may a cache take on a machine?", parse: some,
                    default: lambda do |_|
                      half = (Environment.facts("/")[:memory_bytes] || SOME_MEMORY) / 2
                      "#{[half / 10**6, 1].max}mb"
                    end),
          Field.new(key: :persistent, flag: "--persistent", words: ["must survive a crash of its machine"],
                    default: "no", ask: "Must the cache survive a crash of its machine?", parse: YES),
          Field.new(key: :redis_shared_with_jobs, flag: "--redis-shared-with-jobs", default: "no", parse: YES,
                    words: ["the Redis at hand holds jobs, too"],
                    ask: "Would the cache share a Redis with jobs (Sidekiq, Resque)?"),
          Field.new(key: :redis_policy, flag: "--redis-policy NAME", default: "unknown", parse: one_of.call(POLICIES),
                    words: ["maxmemory-policy of the Redis at hand"],
                    ask: "What is that Redis's maxmemory-policy?"),
          Field.new(key: :trust, flag: "--trust", default: "no", parse: YES,
                    words: ["whoever can write to the cache server may run", "code in the application"],
                    ask: "May who can write to the cache server run code in the application?")
        ].freeze
      end
    end
  end
end
