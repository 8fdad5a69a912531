# frozen_string_literal: true

require "test_helper"
require "larder/cli"
require "support/command"

module Larder
  module CLI
    # `larder completion`, with its scripts in the shells that are installed.
    class CompletionTest < ActiveSupport::TestCase
      include TemporaryDirectory
      include Processes
      include ::Command

      # Words, the last one unfinished, and the only completion.
      COMPLETIONS = {
        ["sta"]                      => "stat",
        ["--ver"]                    => "--version",
        ["clear", "--pre"]           => "--prefix",
        ["stat", "sh"]               => "shop.larder",
        ["stat", "--json", "my"]     => "my shop.larder",
        ["sessions", "cl"]           => "clear-anonymous",
        ["sessions", "--file", "sh"] => "shop.larder",
        ["sessions", "logout", "-a"] => nil,
        ["sessions", "logout", "--a"] => "--all",
        ["completion", "z"]          => "zsh",
        ["help", "doc"]              => "doctor"
      }.freeze
      # Types lines into an interactive shell, and shows which words they had when they were run.
      ZSH = <<~'SH'
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PS1='> '; autoload -U compinit; compinit -u -D; source larder.zsh"
        zpty -w shell 'larder() { print -r -- "RAN<${(j:|:)@}>" }; print begin'
        zpty -r shell out '*begin*begin*'
        for line in "$@"; do
          zpty -w -n shell "$line"$'\t\n'
          zpty -r shell out '*RAN<*>*'
          print -r -- ${${out##*RAN<}%%>*}
        done
      SH

      setup do
        FileUtils.touch(["shop.larder", "my shop.larder", "shop.txt", "my.txt"].map { |name| path_of(name) })
        FileUtils.mkdir_p(path_of("storage/larder"))
      end

      COMPLETIONS.each do |words, completion|
        test "bash completes larder #{words.join(" ")} by #{completion || "nothing"}" do
          assert_equal [*completion], bash(*words)
        end
      end

      test "bash lists all that may follow" do
        assert_equal [*Commands.names, "help", "-h", "--help", "--version"], bash("")
        assert_equal [*Sessions.names, "--file", "--json", "-h", "--help"], bash("sessions", "")
        assert_equal ["shop.larder", "storage"], bash("stat", "s")
        assert_equal ["my shop.larder", "shop.larder", "storage"], bash("sessions", "--file", "=").sort
        assert_equal ["shop.larder"], bash("sessions", "--file", "=", "sh")
        assert_empty bash("clear", "--prefix", "s")
        assert_empty bash("help", "stat", "")
      end

      test "fish completes by the same words" do
        needs("fish")
        COMPLETIONS.each { |words, completion| assert_equal [*completion], fish(*words), words.join(" ") }
        assert_equal [*Commands.names, "help"].sort, fish("")
        assert_equal ["shop.larder", "storage/"], fish("stat", "s")
        assert_equal ["stat\t#{Stat::SUMMARY}"], lines_of_fish("sta")
      end

      test "zsh completes by the same words" do
        needs("zsh")
        write_script("zsh")
        unique = COMPLETIONS.compact
        out, err, status = run_shell("timeout", "100", "zsh", "-f", "-c", ZSH, "zsh",
                                     *unique.keys.map { |words| ["larder", *words].join(" ") })
        assert_predicate status, :success?, err
        assert_equal unique.map { |words, completion| [*words[0..-2], completion].join("|") }, out.lines(chomp: true)
      end

      test "the help of each shell is one line, and another shell is refused" do
        help = done("completion", "--help")
        Completion::Shells.names.each { |name| assert_match(/^  larder completion #{name} > \S+/, help) }
        assert_equal 2, refused(/unknown shell tcsh; known: bash, zsh, fish\nTry: larder completion --help/,
                                "completion", "tcsh")
        assert_equal 2, refused(/name a shell: bash, zsh, fish/, "completion")
        assert_equal 2, refused(/unexpected argument zsh/, "completion", "bash", "zsh")
      end

      test "a new command is completed without another change" do
        place = Completion::Words.new(registry_with_copy).places.last
        assert_equal ["copy", true], [place.words, place.file]
        assert_equal [["--into", "PATH", true], ["--json", nil, false]],
                     place.options.first(2).map { |option| [option.forms.last, option.argument, option.file?] }
        Completion::Shells.names.each do |name|
          script = Completion::Shells.fetch(name).new(Completion::Words.new(registry_with_copy)).script
          assert_match(/\bcopy\b.*\binto\b/m, script)
          next unless installed?(name)

          out, status = Open3.capture2e(name, "-n", stdin_data: script)
          assert_equal ["", true], [out, status.success?], name
        end
      end

      private

      def registry_with_copy
        copy = Class.new(CacheCommand) do
          const_set(:SUMMARY, "copies: it's a [test]")

          private

          def parser
            @parser ||= explained("Usage: larder copy [PATH] [--into PATH]\n\nCopies.\n") do |options|
              options.on("--into PATH", "it's a [test]: 'x'") { |path| @into = path }
            end
          end
        end
        Module.new { extend Registry }.tap do |registry|
          registry.register("sessions", Sessions)
          registry.register("copy", copy)
        end
      end

      def needs(shell)
        skip "#{shell} is not installed" unless installed?(shell)
      end

      def installed?(shell)
        system("which", shell, out: File::NULL)
      end

      def write_script(shell)
        File.write(path_of("larder.#{shell}"), done("completion", shell))
      end

      def run_shell(*command)
        Open3.capture3({ "TERM" => "dumb", "HOME" => directory }, *command, chdir: directory)
      end

      # @return [Array<String>]
      def bash(*words)
        write_script("bash")
        code = 'source larder.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _larder; ' \
               '[[ ${#COMPREPLY[@]} -eq 0 ]] || printf "%s\n" "${COMPREPLY[@]}"'
        out, err, = run_shell("bash", "--norc", "-c", code, "bash", "larder", *words)
        assert_empty err
        out.lines(chomp: true)
      end

      def fish(*words)
        lines_of_fish(*words).map { |line| line.sub(/\t.*/, "") }
      end

      def lines_of_fish(*words)
        write_script("fish")
        out, err, = run_shell("fish", "--no-config", "-c", "source larder.fish; complete -C $argv[1]",
                              ["larder", *words].join(" "))
        assert_empty err
        out.lines(chomp: true)
      end
    end
  end
end
