# frozen_string_literal: true

require_relative "options"
require_relative "schedule"

module Larder
  module Lab
    module Loads
      # The options of `larder-lab latency`.
      class LatencyOptions < Options
        LOAD = "latency"
        DEFAULT = { rounds: 5, seconds: 0.4, limit: 220 }.freeze
        QUICK = { rounds: 3, seconds: 0.06, limit: 25 }.freeze
        # Of what the closed loop reached.
        SHARES = [0.5, 0.8].freeze
        BANNER = <<~TEXT
          Usage: larder-lab latency [options]

          Measures the latency of single calls, up to the slowest of a thousand or more:

            Rails.cache.fetch(["key", i], expires_in: 5.minutes) { "Hello World!" }

          One thread makes hits and misses in two ways. Closed loop: each call starts when
          the previous one has ended, so a stall affects one call. Open loop: calls are
          scheduled at a share of the rate of the closed loop, and latency counts from the
          scheduled time, so a stall affects all calls that were due meanwhile, as it does
          for users. This corrects "coordinated omission".
        TEXT
        FOOTER = <<~TEXT
          Poisson arrivals are random, like those of independent requests. Constant
          arrivals show the stalls of the store alone.

          Examples:
            larder-lab latency --quick
            larder-lab latency --only larder,redis --load 0.3,0.9 --html tails.html
            larder-lab latency --arrivals constant --rounds 10 --seconds 2
        TEXT

        private

        def settings
          { **super, shares: shares, arrivals: @given.fetch(:arrivals, Schedule::ARRIVALS.first) }
        end

        def shares
          @given.fetch(:shares, SHARES)
        end

        def process_seconds
          (much(:seconds) * 2 * (1 + shares.size)) + 1.0
        end

        def own_options(options)
          options.on("--load A,B", Array, "shares of the closed loop's rate for the",
                     "open loop (default #{SHARES.join(",")})") { |words| @given[:shares] = parts(words) }
          options.on("--arrivals KIND", "#{Schedule::ARRIVALS.join(" or ")} (default poisson)") do |kind|
            @given[:arrivals] = arrivals(kind)
          end
        end

        def arrivals(kind)
          return kind if Schedule::ARRIVALS.include?(kind)

          raise UsageError, "unknown arrivals #{kind}; known: #{Schedule::ARRIVALS.join(", ")}"
        end

        def parts(words)
          numbers = words.map { |word| Float(word, exception: false) }
          return numbers.sort.uniq if numbers.all? { |number| number&.between?(0.01, 1.5) }

          raise UsageError, "--load #{words.join(",")}: shares from 0.01 to 1.5, as 0.5,0.8"
        end
      end
    end
  end
end
