# frozen_string_literal: true

require "test_helper"
require "support/command"

module Larder
  module CLI
    # `larder top` in a terminal, with keys, sizes and signals.
    class TopTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Processes
      include ::Command

      LIB = File.expand_path("../../../lib", __dir__)
      # As a FullScreen enters and leaves.
      ENTER = "\e[?1049h\e[?25l"
      LEAVE = "\e[0m\e[?7h\e[?25h\e[?1049l"

      setup do
        @cache = open_cache("shop.larder", size: 1 << 20, statistics: true)
        @cache.set("users/1", "Ada")
        3.times { @cache.get("users/1") }
        @cache.keep_statistics
      end

      test "keys change the page, a size is followed, and q ends" do
        frames, code = at_terminal do |screen|
          assert screen.shows?(/shop\.larder .*Counting what keyspaces do/m)
          { "?" => /Press a key to go back/, "x" => /Counting.*Counting/m, "k" => /Most read keys .*users\/1/m,
            " " => /PAUSED/ }.each do |key, shown|
            screen.type(key)
            assert screen.shows?(shown), key
          end
          screen.resize(12, 100)
          assert screen.shows?(/shop\.larder {60,}PAUSED/)
          screen.type("q")
        end
        assert_equal [0, 24, 12], [code, frames.first.size, frames.last.size]
        assert_match(/\Ashop\.larder {71,}PAUSED/, frames.last.first)
      end

      test "it draws again by itself, with rates of keyspaces" do
        frames, = at_terminal("--interval", "100ms") do |screen|
          reading { assert screen.shows?(/Keyspaces in the last \d+ seconds.*users +\d/m) }
          screen.type("q")
        end
        assert_match(/\Aper second: [\d.]+ reads/, frames.last[3])
      end

      test "Ctrl-C ends it quietly, and signals in a shell's way" do
        assert_equal 0, at_terminal { |screen| screen.type("\u0003") }.last
        [:TERM, :HUP].each do |signal|
          frames, code = at_terminal { |screen| screen.kill(signal) }
          assert_equal 128 + Signal.list.fetch(signal.to_s), code
          assert_match(/larder: stopped by SIG#{signal}/, frames.last.join)
        end
      end

      test "an error is shown on the ordinary screen" do
        File.write(path_of("broken.rb"), <<~RUBY)
          require "larder/cli"
          Larder::CLI::Top.prepend(Module.new do
            def reading(_) = @again ? raise(Larder::CLI::Failure, "gone") : (@again = super)
          end)
        RUBY
        frames, code = at_terminal(ruby: ["-I#{LIB}", "-r#{path_of("broken.rb")}"]) { nil }
        assert_equal 1, code
        assert_match(/larder: gone/, frames.last.join)
      end

      test "Ctrl-Z gives the terminal back until the process goes on" do
        at_terminal do |screen|
          screen.type("\u001a")
          assert screen.shows?(/#{Regexp.escape(LEAVE)}/)
          assert_eventually { File.read("/proc/#{screen.pid}/stat")[/\) (\w)/, 1] == "T" }
          assert_equal ordinary_modes, screen.modes
          screen.kill(:CONT)
          assert screen.shows?(/#{Regexp.escape(LEAVE)}.*#{Regexp.escape(ENTER)}.*shop\.larder/m)
          screen.type("q")
        end
      end

      test "colours are left out where $NO_COLOR is set" do
        [[{}, true], [{ "NO_COLOR" => "1" }, false]].each do |env, painted|
          text, = in_terminal("top", "shop.larder", env: env) do |screen|
            screen.shows?(/Counting/)
            screen.type("q")
          end
          assert_equal painted, text.include?("\e[1m")
        end
      end

      test "without a terminal it names the command that needs none" do
        message = /needs a terminal.*: larder stat shop\.larder --interval 1s$/
        assert_equal 1, refused(message, "top", "shop.larder")
        text, code = in_terminal("top", "shop.larder", "--interval", "5s", env: { "TERM" => "dumb" }) { nil }
        assert_match(/needs a terminal .*: larder stat shop\.larder --interval 5s/, text)
        assert_equal 1, code
      end

      test "a missing file and a wrong interval are refused" do
        assert_equal 1, refused(/no file nowhere/, "top", "nowhere")
        assert_equal 2, refused(/--interval soon must be a time/, "top", "--interval", "soon")
      end

      private

      # The block begins when a page is shown.
      #
      # @return [Array(Array<Array<String>>, Integer)] the lines of each page without styles; exit code
      def at_terminal(*words, **more)
        text, code = in_terminal("top", "shop.larder", *words, **more) do |screen|
          assert screen.shows?(/#{Regexp.escape(ENTER)}.*arrow: reverse/m)
          yield screen
          screen.to_its_end
          assert_equal ordinary_modes, screen.modes
        end
        assert_includes text, LEAVE
        assert_operator text.rindex(LEAVE), :>, text.rindex("\e[H")
        frames = text.split("\e[H").drop(1).map { |frame| frame.gsub(/\e\[[?\d;]*[A-Za-z]/, "").split(/\r*\n/) }
        [frames, code]
      end

      # Reads and adds the counts to the file while the block runs.
      def reading
        is_done = false
        thread = Thread.new do
          until is_done
            @cache.get("users/1")
            @cache.keep_statistics
            sleep(0.05)
          end
        end
        yield
      ensure
        is_done = true
        thread&.join
      end

      # Those of a terminal that no program has changed.
      def ordinary_modes
        @ordinary_modes ||= PTY.open { |_, slave| Open3.capture2("stty", "-g", "-F", slave.path).first }
      end

      def assert_eventually
        200.times { yield ? break : sleep(0.05) }
        assert yield
      end
    end
  end
end
