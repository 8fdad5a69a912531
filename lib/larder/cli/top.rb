# frozen_string_literal: true

# `larder top`: the statistics of a cache, live.

require_relative "../bytes/monotonic_clock"
require_relative "cache_command"
require_relative "full_screen"
require_relative "interval"
require_relative "inspection"

module Larder
  module CLI
    # `larder top`: a page that is drawn again each second.
    class Top < CacheCommand
      include MonotonicClock

      # The name that users type.
      NAME = "top"
      # One line for `larder --help`.
      SUMMARY = "shows hit ratio, rates and keyspaces live"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder top [PATH] [--interval TIME]

        Shows how many reads hit, how full a cache is, and what each keyspace does, and
        draws it again each second. The application may run.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        Keys: r reads, m misses, h hit ratio, b bytes, e evictions and c computing sort
        the keyspaces, again or an arrow the other way round; k shows the most read
        keys; space pauses; ? explains; q ends.

        It needs a terminal. Elsewhere: larder stat --interval 1s. There are no colours
        if $NO_COLOR is set.

        Exit codes: 0 done, 1 the file is missing or cannot be used, or there is no
        terminal, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

      private

      def parser
        @parser ||= explained(BANNER, FOOTER, json: false) do |options|
          options.on("--interval TIME", "between two drawings: 500ms, 1s (default), 5s") do |text|
            @interval = Interval.new(text)
          end
        end
      end

      def act
        there
        unless @out.interactive? && @input.tty?
          raise Failure, "larder top needs a terminal that can move the cursor; here: " \
                         "larder stat #{Remedy.quoted(path)} --interval #{@interval ? @interval.text : "1s"}"
        end
        WatchedFile.open(path) { |file| FullScreen.new(@out, @input).run { |screen| watch(file, screen) } }
        OK
      rescue Interrupt
        OK
      end

      def watch(file, screen)
        seconds = @interval ? @interval.seconds : 1.0
        history = History.new
        choices = Choices.new
        due = 0.0
        loop do
          if monotonic_now >= due && !choices.paused
            history.add(reading(file))
            due = monotonic_now + seconds
          end
          screen.draw(Page.new(path, history, choices).lines(*screen.size))
          keys = screen.wait(choices.paused ? nil : [due - monotonic_now, 0].max)
          break if keys.any? { |key| choices.press(key) == :quit }
        end
      end

      def reading(file)
        Reading.new(monotonic_now, Time.now, file.cache.stats, file.pids, Statistics.of(path))
      end
    end
  end
end

require_relative "top/page"
