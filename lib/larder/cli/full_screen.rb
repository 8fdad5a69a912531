# frozen_string_literal: true

# Takes the whole terminal, and gives it back as it was.

require "io/console"
require_relative "terminal"

module Larder
  module CLI
    # Draws pages on the alternate screen of a terminal, and reads single keys. The cursor, the screen and the modes of
    # the terminal are restored however the block ends: by a key, a signal or an exception, and while the process is
    # stopped by Ctrl-Z.
    class FullScreen
      # Alternate screen; no cursor; no wrapping of lines.
      ENTER = "\e[?1049h\e[?25l\e[?7l\e[2J"
      LEAVE = "\e[0m\e[?7h\e[?25h\e[?1049l"
      # The characters of one key press.
      KEY = /\e\[[0-9;?]*[A-Za-z~]|\eO[A-Za-z]|./m
      ARROW = /\A\e[\[O][A-D]\z/
      SIGNALS = ["WINCH", "TSTP"].freeze
      private_constant :ENTER, :LEAVE, :KEY, :ARROW, :SIGNALS

      # @param out [Terminal]
      # @param input [IO] a terminal
      def initialize(out, input)
        @out = out
        @input = input
      end

      # @yieldparam screen [FullScreen]
      # @return [Object] the block's
      def run
        @modes = @input.console_mode
        @wake, @signals = IO.pipe
        former = SIGNALS.to_h { |name| [name, trap(name) { @signals.write_nonblock(name[0], exception: false) }] }
        enter
        yield self
      ensure
        leave
        former&.each { |name, handler| trap(name, handler || "DEFAULT") }
        [@wake, @signals].each { |io| io&.close }
      end

      # @return [Array(Integer, Integer)] rows and columns
      def size
        @out.size
      end

      # @param lines [Array<Array(String, Symbol)>] texts without control characters, with their styles or nil; no more
      #   and no longer than the screen
      # @return [void]
      def draw(lines)
        rows = lines.map { |text, style| "\e[K#{@out.paint(text, style)}" }
        @out.print("\e[H#{rows.join("\r\n")}\e[J")
      end

      # Waits for keys, another size of the terminal, or the end of the time.
      #
      # @param seconds [Float]
      # @return [Array<String, Symbol>] characters, :arrow, and :closed if there will be no more keys
      def wait(seconds)
        ready, = IO.select([@input, @wake], nil, nil, seconds)
        return [] unless ready

        stop if ready.include?(@wake) && @wake.read_nonblock(100).include?("T")
        ready.include?(@input) ? keys : []
      end

      private

      def keys
        text = @input.read_nonblock(100, exception: false)
        return [:closed] if text.nil?
        return [] if text == :wait_readable

        text.b.scan(KEY).map { |key| key.match?(ARROW) ? :arrow : key }
      rescue Errno::EIO # the terminal is gone
        [:closed]
      end

      def enter
        @entered = true
        @input.raw!(intr: true)
        @out.print(ENTER)
      end

      def leave
        return unless @entered

        @entered = false
        @out.print(LEAVE)
        @input.console_mode = @modes
      rescue Errno::EIO
        # The terminal is gone, and there is nothing to restore.
      end

      # As Ctrl-Z does without a handler.
      def stop
        leave
        Process.kill(:STOP, Process.pid)
        enter
      end
    end
  end
end
