# frozen_string_literal: true

# `larder sessions stat`, or without `stat`: shows how many sessions an application has.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions stat`, or without a command.
      class Stat < Command
        Sessions.register("stat", self)

        NEARLY = ::Larder::Sessions::Room::NEARLY
        BANNER = <<~TEXT
          Usage: larder sessions [stat] [options]
                 larder sessions logout ID
                 larder sessions logout --all [--yes]
                 larder sessions clear-anonymous [--yes]

          Shows how many sessions an application has, and ends sessions, also if the
          application cannot be started. It needs only the file of sessions, and the
          application may run. For other queries, and for sessions in a store of cache:,
          use Larder::Sessions in `rails console`.

          `stat`, which can be left out, shows the counts of Larder::Sessions.stats, and
          how much of the space for signed-in sessions is used. They are not evicted, so
          sign-ins are refused when 90 % of that space is used.
        TEXT
        FOOTER = <<~TEXT
          `larder sessions logout --help` explains a command.

          Examples:
            watch larder sessions
            larder sessions --json | jq .signed_in

          Exit codes: 0 done, 1 the file is missing or cannot be used, 2 wrong usage.
        TEXT
        private_constant :NEARLY, :BANNER, :FOOTER

        private

        def parser
          @parser ||= explained(BANNER, FOOTER) { |options| options }
        end

        def operands(rest)
          return if rest.empty?

          known = Sessions.names.include?(rest.first)
          raise UsageError, known ? "put #{rest.first} first: larder sessions #{rest.first} ..." : super
        end

        def act
          stats, settings = visit { |statistics, settings| [statistics.stats, settings] }
          return tell({ file: File.absolute_path(file), **stats, **settings.to_h }) if @json

          @out.puts("Sessions in #{file}", style: :bold)
          @out.puts("", *table(stats), "")
          warn_of(stats)
          @out.puts(*ends(settings), style: :dim)
          OK
        end

        def table(stats)
          numbers = stats.transform_values { |number| Words.count(number) }
          width = [*numbers.except(:pinned_bytes, :pinned_room_bytes, :full).values.map(&:size), 7].max
          line = ->(label, key, more = nil) { "  #{label.ljust(18)}#{numbers[key].rjust(width)}#{more}".rstrip }
          [line["alive", :sessions],
           line["  signed in", :signed_in, share(stats, :signed_in)],
           line["  anonymous", :anonymous, share(stats, :anonymous)],
           "",
           "  active in the last",
           line["  minute", :active_1m],
           line["  5 minutes", :active_5m],
           line["  hour", :active_1h],
           line["  24 hours", :active_1d],
           "",
           "  room of those signed in",
           "    #{Words.bar(stats[:full])} #{Words.percent(stats[:full])}",
           "    #{Words.bytes_of(stats[:pinned_bytes], stats[:pinned_room_bytes])}",
           "",
           line["evicted", :evictions]]
        end

        def share(stats, key)
          "   #{Words.percent(stats[key].fdiv(stats[:sessions])).rjust(5)}" if stats[:sessions].positive?
        end

        def warn_of(stats)
          return if stats[:full] < NEARLY

          @out.puts("Nearly full: from 90 % on sign-ins are refused (503). Let sessions end earlier, or",
                    "stop the application, give it a larger size:, and",
                    "  #{::Larder::Sessions::Enlarging.command(file, File.size(file))}", "", style: :red)
        end

        def ends(settings)
          lives = settings.lifetimes
          anonymous = " (anonymous: #{Words.span(lives.anonymous)})" if lives.anonymous && lives.anonymous != lives.idle
          unused = lives.idle ? "ends after #{Words.span(lives.idle)} without use" : "may be unused for ever"
          ["A session #{unused}#{anonymous}#{lives.max ? "," : "."}",
           *("and #{"ends " unless lives.idle}#{Words.span(lives.max)} after it began, used or not." if lives.max),
           *("Copies are in #{settings.backed_by}." if settings.backed_by)]
        end
      end
    end
  end
end
