# frozen_string_literal: true

require_relative "../units"
require_relative "options"

module Larder
  module Lab
    module Loads
      # The options of `larder-lab soak`.
      class SoakOptions < Options
        LOAD = "soak"
        DEFAULT = { rounds: 1, seconds: 10.0, limit: nil, size: 32 << 20, slices: 20 }.freeze
        QUICK = { rounds: 1, seconds: 0.6, limit: nil, size: 4 << 20, slices: 10 }.freeze
        # Less than this has room for too few objects, and servers do not go below some megabytes.
        LEAST_SIZE = 4 << 20
        BANNER = <<~TEXT
          Usage: larder-lab soak [options]

          Measures a full store over time. Each store gets little room, is filled with
          twice as much, and is then read by a Zipf distribution; an evicted object is
          written again. The report shows throughput, the slowest call in a thousand,
          memory and disk over time, and whether the second half is slower than the first.
        TEXT
        FOOTER = <<~TEXT
          Objects are 900 random bytes. A store that uses more than three times its size
          on disk has no limit, and is stopped.

          Examples:
            larder-lab soak --quick
            larder-lab soak --only larder --minutes 10 --size 256MiB
            larder-lab soak --only larder,litecache,solid_cache --html soak.html
        TEXT

        private

        def settings
          { **super, slices: much(:slices) }
        end

        # The null store has nothing to endure.
        def chosen_contenders
          @only || Contenders.usual.select { |name| Contenders.fetch(name).keeps_values? }
        end

        def size
          much(:size)
        end

        def twin?
          false
        end

        def process_seconds
          much(:seconds) + 3.0
        end

        def time_option(options)
          options.on("--minutes N", Float, "for each contender (default 10 seconds)") do |n|
            @given[:seconds] = some("--minutes", n) * 60
          end
        end

        def own_options(options)
          options.on("--size BYTES", "size of each store (default 32MiB)") do |text|
            size = Units.size(text, "--size")
            raise UsageError, "--size #{text}: at least 4MiB" if size < LEAST_SIZE

            @given[:size] = size
          end
        end
      end
    end
  end
end
