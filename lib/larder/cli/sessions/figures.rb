# frozen_string_literal: true

# Owns `larder sessions`: the figures, once or again and again.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions`: how many there are.
      class Figures < Command
        Sessions.register("figures", self)

        # Seconds between two pages of --watch.
        EVERY = 2
        # Characters of the bar, and from which share on it is a warning.
        BAR = 30
        NEARLY = ::Larder::Sessions::Room::NEARLY
        BANNER = <<~TEXT
          Usage: larder sessions [figures] [--watch] [options]
                 larder sessions active [--last 5m] [--signed-in | --anonymous]
                 larder sessions online [--last 5m] [--limit 100]
                 larder sessions user ID
                 larder sessions revoke HANDLE
                 larder sessions logout ID [--except HANDLE]
                 larder sessions logout --all [--yes]
                 larder sessions clear-anonymous
                 larder sessions recount

          How many sessions an application has, who is signed in, and ending sessions.
          It needs the application's file of sessions, and not the application, which
          may run meanwhile. A user goes by the id (42), one of another class than User
          by class and id (Admin/7).

          Without more words it shows figures: who is alive and who was active, as the
          application counts, and the room taken by those who are signed in. They are
          not evicted, and where 90 % of their room is taken nobody else can sign in.
        TEXT
        FOOTER = <<~TEXT
          `larder sessions active --help`, and so on, explains each.

          Examples:
            larder sessions --watch
            larder sessions --json | jq .signed_in
            larder sessions user 42

          Exit codes: 0 done, 1 not: no such file or session, 2 wrong usage.
        TEXT
        private_constant :EVERY, :BAR, :NEARLY, :BANNER, :FOOTER

        private

        def parser
          @parser ||= explained(BANNER, FOOTER) do |options|
            options.on("--watch", "again each 2 seconds, until Ctrl-C") { @watch = true }
          end
        end

        def words(rest)
          return if rest.empty?

          known = Sessions.names.include?(rest.first)
          raise UsageError, known ? "put #{rest.first} first: larder sessions #{rest.first} ..." : super
        end

        def act
          return show unless @watch

          watch
        rescue Interrupt
          raise unless @watch

          OK
        end

        def watch
          loop do
            @json ? show : @out.redraw { show }
            @out.flush
            sleep EVERY
          end
        end

        def show
          stats, settings, path = visit { |sessions| [sessions.stats, sessions.settings, sessions.path] }
          return tell({ file: path, **stats, **settings.to_h }) if @json

          @out.puts("Sessions in #{file}#{", #{Time.now.strftime("%T")}" if @watch}", style: :bold)
          @out.puts("", *table(stats), "")
          warn_of(stats, path)
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
           "    #{bar(stats[:full])} #{Words.percent(stats[:full])}",
           "    #{Words.bytes_of(stats[:pinned_bytes], stats[:pinned_room_bytes])}",
           "",
           line["evicted", :evictions]]
        end

        def share(stats, key)
          "   #{Words.percent(stats[key].fdiv(stats[:sessions])).rjust(5)}" if stats[:sessions].positive?
        end

        def bar(full)
          filled = full.positive? ? (full * BAR).round.clamp(1, BAR) : 0
          "[#{"#" * filled}#{"-" * (BAR - filled)}]"
        end

        def warn_of(stats, path)
          return if stats[:full] < NEARLY

          larger = (File.size(path) * 2).fdiv(1 << 20).ceil
          @out.puts("Nearly full: from 90 % on sign-ins are refused (503). Let sessions end earlier, or",
                    "stop the application, give it a larger size:, and",
                    "  larder resize --keep #{Shellwords.escape(file)} #{larger}MB", "", style: :red)
        end

        def ends(settings)
          lives = settings.lifetimes
          anonymous = " (anonymous: #{Words.span(lives.anonymous)})" if lives.anonymous && lives.anonymous != lives.idle
          ["A session ends after #{lives.idle ? Words.span(lives.idle) : "no time"} without use#{anonymous}" \
           "#{lives.max ? "," : "."}",
           *("and #{Words.span(lives.max)} after it began, used or not." if lives.max),
           *("Copies are in #{settings.backed_by}." if settings.backed_by)]
        end
      end
    end
  end
end
