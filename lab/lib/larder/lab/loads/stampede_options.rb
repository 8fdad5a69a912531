# frozen_string_literal: true

require "etc"
require_relative "herd"
require_relative "options"

module Larder
  module Lab
    module Loads
      # The options of `larder-lab stampede`.
      class StampedeOptions < Options
        LOAD = "stampede"
        # Keys and deaths: enough for a p99 in one round of 100 callers. Seconds: until the value has expired four
        # times, in a quick run twice, where the store does not count in whole seconds.
        DEFAULT = { rounds: 3, limit: 400, processes: 4, threads: 25, block: 0.05, keys: 10, deaths: 10,
                    seconds: 4.4 }.freeze
        QUICK = { **DEFAULT, rounds: 1, limit: nil, deaths: 3, seconds: 2.3 }.freeze
        # Those that a quick run measures.
        QUICKLY = %w[larder-single-flight memcached-lock larder redis].freeze
        # A value that takes longer would no longer be served while it is computed again.
        LONGEST = 1.0
        BANNER = <<~TEXT
          Usage: larder-lab stampede [options]

          Measures what happens when many callers want one key at once. Several processes
          with several threads each call, at the same moment,

            Rails.cache.fetch(key, expires_in: 60) { sleep 0.05; value }

          1. The key is absent. How often does the block run, how long do callers wait,
             and how much processor time do those take who wait?
          2. The process that runs the block is killed at a random moment of it, where a
             store has one caller compute: larder-single-flight and memcached-lock.
          3. The value expires. As many processes as there are cores read it back to back
             while it is computed again, with stale_while_revalidate in
             larder-single-flight, and race_condition_ttl in Rails' stores. How much
             longer does a read take then? The block sleeps, as for a database; in a
             second table it computes.
        TEXT
        FOOTER = <<~TEXT
          How to read the tables: "no value" counts callers who got nil or an empty answer
          in place of the value. "CPU/wait" is the processor time of those who got a value
          that another caller computed, as a share of the time that they waited.

          Examples:
            larder-lab stampede --quick
            larder-lab stampede --only larder-single-flight,redis --processes 8
            larder-lab stampede --block-ms 200 --rounds 5 --html stampede.html
        TEXT

        # @return [String] the contenders
        def list
          ["Contenders (--only, --except):", *listed(registry), "",
           "Without --only: #{registry.usual.join(", ")}."].join("\n")
        end

        private

        def registry
          Contenders::SingleFlights
        end

        def settings
          { readers: [much(:processes), Etc.nprocessors].min, crew_threads: much(:threads),
            **%i[processes threads block keys deaths seconds].to_h { |name| [name, much(name)] } }
        end

        def twin?
          false
        end

        # Starting, proving, and the killed; the keys; reading.
        def process_seconds
          3.0 + (much(:keys) * (much(:block) + 0.15)) + (Herd::WORK.size * much(:seconds))
        end

        # The block takes the place of --seconds.
        def time_option(options)
          options.on("--block-ms N", Float, "milliseconds that the block takes (default #{ms(DEFAULT[:block])})") do |n|
            @given[:block] = some("--block-ms", n) / 1000
            next if @given[:block] <= LONGEST

            raise UsageError, "--block-ms must be #{ms(LONGEST)} or less, not #{n}"
          end
        end

        def ms(seconds)
          (seconds * 1000).round
        end

        def own_options(options)
          %i[processes threads].each do |name|
            about = name == :threads ? "threads of each that call" : "processes that call"
            options.on("--#{name} N", Integer, "#{about} (default #{DEFAULT[name]})") do |n|
              @given[name] = positive("--#{name}", n)
            end
          end
        end
      end
    end
  end
end
