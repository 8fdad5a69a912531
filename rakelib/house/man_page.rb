# frozen_string_literal: true

# Writes man/larder.1 from the help of the commands.
#
# Run as a program: ruby rakelib/house/man_page.rb

require "fileutils"
require_relative "../../lib/larder/cli"
require_relative "environment"

module House
  # The manual page of `larder`, in the macros of man(7).
  class ManPage
    PAGE = File.join(ROOT, "man/larder.1")
    # A paragraph that is in the help of every command for a cache, and once in the page.
    COMMON = Larder::CLI::CacheCommand::PATH_HELP.strip
    HEAD = <<~'ROFF'
      .\" Written by: rake docs:man
      .TH LARDER 1 "" "Larder" "User Commands"
      .nr HY 0
      .ad l
    ROFF
    # Characters that roff would show as others.
    ESCAPES = { "\\" => "\\e", "-" => "\\-", "'" => "\\(aq", "`" => "\\(ga", "^" => "\\(ha", "~" => "\\(ti" }.freeze
    private_constant :COMMON, :HEAD, :ESCAPES

    # @param commands [Larder::CLI::Registry]
    def initialize(commands = Larder::CLI::Commands)
      @commands = commands
    end

    # @return [String] the page as it is
    def read
      File.read(PAGE, encoding: "UTF-8")
    end

    # @return [String] the page as it has to be
    def text
      [HEAD, section("NAME"), "larder \\- manages the files of Larder's caches and sessions\n",
       section("SYNOPSIS"), ".B larder\n.I COMMAND\n[options]\n",
       section("COMMANDS"), *places.map { |words, command| explained(words, command.new) },
       section("FILES"), lines(COMMON)].join
    end

    # Writes the page.
    def write
      FileUtils.mkdir_p(File.dirname(PAGE))
      File.write(PAGE, text)
    end

    private

    # @return [Array<Array(String, Class)>] the words of each command, and the command
    def places
      @commands.names.flat_map do |name|
        command = @commands.fetch(name)
        next [[name, command]] unless command.is_a?(Larder::CLI::Registry)

        command.names.map { |below| ["#{name} #{below}", command.fetch(below)] }
      end
    end

    def explained(words, command)
      usage, *paragraphs = command.help.strip.split(/\n{2,}/)
      blocks = paragraphs.reject { |each| each == COMMON }.map do |each|
        each.start_with?("Options:\n") ? options(command.switches) : paragraph(each)
      end
      [".SS larder #{words}\n", verbatim(usage.gsub(/^(?:Usage: | {7})/, "")), *blocks].join
    end

    def options(switches)
      switches.reject { |switch| switch.long.include?("--help") }.map do |switch|
        argument = " #{switch.arg.strip}" if switch.arg
        forms = [*switch.short, *switch.long].join(", ")
        ".TP\n.B #{lines("#{forms}#{argument}")}#{lines(switch.desc.join("\n"))}"
      end.join
    end

    # Lines that are indented stay as they are.
    def paragraph(text)
      text.lines.chunk_while { |before, line| code?(before) == code?(line) }.map do |run|
        next ".PP\n#{lines(run.join)}" unless code?(run.first)

        ".RS 2\n#{verbatim(run.map { |line| line.delete_prefix("  ") }.join)}.RE\n"
      end.join
    end

    def code?(line)
      line.start_with?("  ")
    end

    def verbatim(text)
      ".EX\n#{lines(text)}.EE\n"
    end

    # A line that begins with a dot would be a request.
    def lines(text)
      "#{text.chomp.gsub(Regexp.union(ESCAPES.keys), ESCAPES).gsub(/^\./, "\\\\&.")}\n"
    end

    def section(name)
      ".SH #{name}\n"
    end
  end
end

House::ManPage.new.write if $PROGRAM_NAME == __FILE__
