# frozen_string_literal: true

# Shows the progress of a run: one line that is rewritten on a terminal, a few plain lines elsewhere.

require_relative "clock"
require_relative "reports/figures"
require "larder/cli/terminal"

module Larder
  module Lab
    # Says what is being done and how long it will still take.
    # @api private
    class Progress
      include Clock

      BAR = 20

      def initialize(terminal)
        @terminal = terminal
      end

      # Begins a phase.
      # @param seconds [Float, nil] estimate of the whole phase
      # @param nouns [Array<String>] what a step is called, and several
      def start(title, steps, seconds: nil, nouns: %w[process processes])
        wipe
        @steps = steps
        @done = -1
        @expected = seconds
        @begun = now
        estimate = seconds && ", about #{Reports::Figures.span(seconds)}"
        @terminal.puts("#{title}: #{steps} #{steps == 1 ? nouns.first : nouns.last}#{estimate}")
      end

      # Begins a step, which ends the one before it.
      def step(label)
        @done += 1
        left = @done.positive? ? (now - @begun) * (@steps - @done) / @done : @expected
        left &&= ", #{Reports::Figures.span(left)} left,"
        return draw("#{@done}/#{@steps}#{left} #{label}") if @terminal.interactive?

        # Where lines stay, a tenth of them will do.
        @terminal.puts("  #{@done + 1}/#{@steps}#{left} #{label}") if (@done % [@steps / 10, 1].max).zero?
      end

      # A message that stays.
      def note(text)
        wipe
        @terminal.puts("  #{text}")
      end

      def finish = wipe

      private

      def draw(text)
        filled = BAR * @done / @steps
        line = "[#{"=" * filled}#{" " * (BAR - filled)}] #{text}"
        @terminal.print("\r\e[K#{line[0, @terminal.width - 1]}")
        @drawn = true
      end

      def wipe
        @terminal.print("\r\e[K") if @drawn
        @drawn = false
      end
    end
  end
end
