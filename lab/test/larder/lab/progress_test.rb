# frozen_string_literal: true

require "test_helper"
require "stringio"

module Larder
  module Lab
    class ProgressTest < ActiveSupport::TestCase
      # A stream that says it is a terminal.
      class Screen < StringIO
        def tty? = true

        def winsize = [24, 60]
      end

      test "away from a terminal lines are plain and stay" do
        text = show(StringIO.new)
        assert_no_match(/[\e\r]/, text)
        assert_match(%r{^measuring: 3 processes, about 1 min 5 s$}, text)
        assert_match(%r{^  1/3, 1 min 5 s left, first$}, text)
      end

      test "on a terminal one line is rewritten, within its width, and removed at the end" do
        text = show(Screen.new)
        assert_match(/\r\e\[K\[=* *\] 1\/3/, text)
        assert(text.split("\r\e[K").flat_map(&:lines).all? { |line| line.chomp.size < 60 })
        assert text.end_with?("\r\e[K")
      end

      test "a dumb terminal gets plain lines" do
        assert_no_match(/[\e\r]/, show(Screen.new, "TERM" => "dumb"))
      end

      private

      def show(io, environment = {})
        progress = Progress.new(CLI::Terminal.new(io, environment: environment))
        progress.start("measuring", 3, seconds: 65)
        progress.step("first")
        progress.step("a workload with a name that is longer than the whole line has room for")
        progress.finish
        io.string
      end
    end
  end
end
