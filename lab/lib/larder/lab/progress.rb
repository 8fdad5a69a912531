# frozen_string_literal: true

# Shows the progress of a run: one line that is rewritten on a terminal, a few plain lines elsewhere.

require_relative "clock"
require "larder/cli/terminal"

module Larder
  module Lab
    # Says what is being done and how long it will still take.
    class Progress
      include Clock

      BAR = 20

      # @param terminal [Terminal]
      def initialize(terminal)
        @terminal = terminal
      end

      # Begins a phase.
      # @param title [String]
      # @param steps [Integer]
      # @param seconds [Float, nil] estimate of the whole phase
      # @param nouns [Array<String>] what a step is called, and several
      # @return [void]
      def start(title, steps, seconds: nil, nouns: %w[process processes])
        wipe
        @steps = steps
        @done = -1
        @expected = seconds
        @passed = 0.0
        @pending = 0.0
        @begun = now
        estimate = seconds && ", about #{duration(seconds)}"
        @terminal.puts("#{title}: #{steps} #{steps == 1 ? nouns.first : nouns.last}#{estimate}")
      end

      # Begins a step, which ends the one before it.
      # @param label [String]
      # @param seconds [Float] estimate of this step
      # @param left [Float, nil] seconds until all steps have ended, where the caller knows them better
      # @return [void]
      def step(label, seconds: 0.0, left: nil)
        @done += 1
        @passed += @pending
        @pending = seconds
        @label = label
        @known = left && (now + left)
        @terminal.interactive? ? draw : plain
      end

      # Says what the step is at.
      # @param text [String]
      # @return [void]
      def detail(text)
        draw(text) if @terminal.interactive?
      end

      # A message that stays.
      # @param text [String]
      # @return [void]
      def note(text)
        wipe
        @terminal.puts("  #{text}")
      end

      # @return [void]
      def finish
        wipe
      end

      # @param seconds [Float]
      # @return [String] "45 s" or "3 min 20 s"
      def duration(seconds)
        whole = [seconds.round, 1].max
        whole < 60 ? "#{whole} s" : "#{whole / 60} min#{" #{whole % 60} s" unless (whole % 60).zero?}"
      end

      private

      def draw(text = "")
        filled = BAR * @done / @steps
        line = "[#{"=" * filled}#{" " * (BAR - filled)}] #{@done}/#{@steps}#{left} #{@label}"
        line = "#{line}: #{text}" unless text.empty?
        @terminal.print("\r\e[K#{line[0, @terminal.width - 1]}")
        @drawn = true
      end

      # Where lines stay, a tenth of them will do.
      def plain
        return unless (@done % [@steps / 10, 1].max).zero?

        @terminal.puts("  #{@done + 1}/#{@steps}#{left} #{@label}")
      end

      # The estimate, corrected by how long the steps so far really took.
      def left
        return ", #{duration([@known - now, 0.0].max)} left," if @known
        return "" unless @expected

        pace = @passed.positive? ? (now - @begun) / @passed : 1.0
        ", #{duration([@expected - @passed, 0.0].max * pace)} left,"
      end

      def wipe
        @terminal.print("\r\e[K") if @drawn
        @drawn = false
      end
    end
  end
end
