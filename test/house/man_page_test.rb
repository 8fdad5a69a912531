# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "../../rakelib/house/man_page"

module House
  # The manual page: what it has, and how the programs that show it read it.
  class ManPageTest < ActiveSupport::TestCase
    test "the page is what `rake docs:man` writes" do
      page = ManPage.new
      assert_equal page.text, page.read
    end

    test "the page has each command with its options" do
      text = ManPage.new.text
      commands = Larder::CLI::Commands.names.grep_v("sessions") +
                 Larder::CLI::Sessions.names.map { |name| "sessions #{name}" }
      assert_equal commands.sort, text.scan(/^\.SS larder (.+)$/).flatten.map { |words| words.tr("\\", "") }.sort
      assert_match(/^\.B \\-\\-prefix TEXT\nonly keys/, text)
      assert_equal 1, text.scan(/^PATH is the cache/).size
    end

    test "characters of roff are escaped" do
      command = Class.new(Larder::CLI::Command) do
        def parser
          text = "Usage: larder odd\n\n.B is 'no' request:\n  ls ~ \\ `pwd`\n"
          @parser ||= explained(text) { |options| options.separator("\nOptions:") }
        end
      end
      registry = Module.new { extend Larder::CLI::Registry }
      registry.register("odd", command)
      text = ManPage.new(registry).text
      assert_match(/^\\&\.B is \\\(aqno\\\(aq request:$/, text)
      assert_match(/^\.EX\nls \\\(ti \\e \\\(gapwd\\\(ga\n\.EE$/, text)
    end

    test "man reads the page without a warning" do
      skip "man is not installed" unless system("which", "man", out: File::NULL)
      shown, warnings, status = Open3.capture3({ "MANWIDTH" => "80", "LC_ALL" => "C.UTF-8" }, "man", "--warnings", "-l",
                                               ManPage::PAGE)
      assert_equal ["", true], [warnings, status.success?]
      assert_match(/^ +larder clear \[PATH\] \[--json\]$/, shown)
    end

    # The page has no date, because it is written when the help changes.
    test "mandoc reads the page without a warning" do
      skip "mandoc is not installed" unless system("which", "mandoc", out: File::NULL)
      warnings, = Open3.capture2e("mandoc", "-T", "lint", "-W", "warning", ManPage::PAGE)
      assert_empty warnings.lines.grep_v(/missing date/)
    end
  end
end
