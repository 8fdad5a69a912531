# frozen_string_literal: true

# `larder stat --interval`: a line of rates each time.

require "json"
require_relative "../inspection"

module Larder
  module CLI
    class Stat
      # Rates of a cache, until the process is stopped or enough lines are written.
      class Live
        HEAD = "    hits/s  misses/s    hits   stores/s  evictions/s        items    full"
        EVERY = 20
        private_constant :HEAD, :EVERY

        # @param file [WatchedFile]
        # @param json [Boolean] an object a line
        def initialize(file, json: false)
          @file = file
          @json = json
          @written = 0
        end

        # @param out [Terminal]
        # @param interval [Interval]
        # @param count [Integer, nil] of lines; nil: without end
        # @return [void]
        def run(out, interval, count)
          before = @file.cache.stats
          out.puts(HEAD, style: :bold) unless @json
          interval.each do |seconds|
            stats = @file.cache.stats
            out.puts(*lines(Rates.between(before, stats, seconds), stats, seconds))
            before = stats
            break if @written == count
          end
        end

        # @param rates [Rates]
        # @param stats [Hash] of {Cache#stats}
        # @param seconds [Float]
        # @return [Array<String>] a line, below a head every 20 lines
        def lines(rates, stats, seconds)
          head = [HEAD] if @written.positive? && (@written % EVERY).zero? && !@json
          @written += 1
          [*head, @json ? JSON.generate(figures(rates, stats, seconds)) : line(rates, stats)]
        end

        private

        def line(rates, stats)
          ratio = rates.hit_ratio
          format("%10s  %8s  %6s  %9s  %11s  %11s  %6s", Brief.rate(rates.hits), Brief.rate(rates.misses),
                 ratio ? Words.percent(ratio) : "-", Brief.rate(rates.stores), Brief.rate(rates.evictions),
                 Words.count(stats[:items]), Words.percent(stats[:fullness]))
        end

        def figures(rates, stats, seconds)
          { time: Time.now.getutc.iso8601(3), seconds: seconds.round(3), hits_per_second: rates.hits.round(3),
            misses_per_second: rates.misses.round(3), hit_ratio: rates.hit_ratio,
            stores_per_second: rates.stores.round(3), evictions_per_second: rates.evictions.round(3),
            items: stats[:items], fullness: stats[:fullness] }
        end
      end
    end
  end
end
