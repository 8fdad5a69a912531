# frozen_string_literal: true

require_relative "clock"
require_relative "reports/figures"

module Larder
  module Lab
    # Shows what is being done, a line for a tenth of the steps, and how long it will still take.
    # @api private
    class Progress
      include Clock

      # Lines go to `out`, which has `puts`.
      def initialize(out)
        @out = out
      end

      # Begins a phase of that number of steps, which are called `noun`, and take `seconds` (nil: not known).
      def start(title, steps, noun, seconds)
        @steps = steps
        @done = 0
        @expected = seconds
        @begun = now
        estimate = seconds && ", about #{Reports::Figures.span(seconds)}"
        @out.puts("#{title}: #{steps} #{noun}#{"s" unless steps == 1}#{estimate}")
      end

      # Begins a step, which ends the one before it.
      def step(label)
        left = @done.positive? ? (now - @begun) * (@steps - @done) / @done : @expected
        left &&= ", #{Reports::Figures.span(left)} left,"
        note("#{@done + 1}/#{@steps}#{left} #{label}") if (@done % [@steps / 10, 1].max).zero?
        @done += 1
      end

      def note(text) = @out.puts("  #{text}")
    end
  end
end
