# frozen_string_literal: true

require "test_helper"
require "support/command"
require "larder/cli"

module Larder
  # The command as a whole: help, errors, exit codes.
  class CLITest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes
    include Command

    LIB = File.expand_path("../../lib", __dir__)
    HELP = [[], *CLI::Commands.names.map { |name| [name] },
            *CLI::Sessions.names.map { |name| ["sessions", name] }].freeze

    HELP.each do |words|
      test "larder #{[*words, "--help"].join(" ")} explains itself in 80 columns" do
        text = done(*words, "--help")
        assert_match(/^Usage: larder /, text)
        assert_operator text.lines.map { |line| line.chomp.size }.max, :<=, 80
        assert_equal text, done(*words, "-h")
      end
    end

    test "larder alone, and larder help, list the commands" do
      text = done
      assert_match(/^  stat +shows full.*^  clear .*^  resize .*^  doctor .*^  sessions +shows and ends/m, text)
      assert_equal [text, text], [done("help"), done("--help")]
      assert_equal "larder #{VERSION}\n", done("--version")
    end

    test "larder help COMMAND is the help of the command" do
      assert_equal done("clear", "--help"), done("help", "clear")
      assert_equal done("sessions", "logout", "--help"), done("help", "sessions", "logout")
      assert_equal 2, refused(/unknown command claer; known: stat, top.*clear.*\nTry: larder --help/, "help", "claer")
      assert_equal 2, refused(/unknown command users; known: stat, logout/, "help", "sessions", "users")
    end

    test "larder sessions --help lists the commands that there are, and stat is the one without a name" do
      usage = done("sessions", "--help")[/\AUsage:.*?^$/m]
      CLI::Sessions.names.each { |name| assert_match(/larder sessions \[?#{name}\b/, usage) }
      assert_equal done("sessions", "--help"), done("sessions", "stat", "--help")
    end

    test "a path that no file can have is refused" do
      ["doctor", "stat", "clear", "sessions --file", "keys --file"].each do |words|
        ["", "  "].each do |path|
          message = /the path #{path.inspect} is empty; name a file\nTry: larder #{words[/\w+/]} --help/
          assert_equal 2, refused(message, *words.split, path)
        end
      end
    end

    test "what is typed wrongly is refused with what is possible, and exit code 2" do
      {
        "sesions"                        => /unknown command sesions; known: stat, top.*clear.*\nTry: larder --help/,
        "stat a b"                       => /unexpected argument b\nTry: larder stat --help/,
        "stat --version"                 => /invalid option: --version\nTry: larder stat --help/,
        "clear a --prefix"               => /missing argument: --prefix/,
        "doctor --fix"                   => /invalid option: --fix/,
        "sessions users"                 => /unknown command users; known: stat, logout, clear-anonymous/,
        "sessions --wach"                => /invalid option: --wach.*\nTry: larder sessions --help/m,
        "sessions --json logout"         => /put logout first: larder sessions logout/,
        "sessions --file"                => /missing argument: --file/,
        "sessions clear-anonymous 5m"    => /unexpected argument 5m/,
        "sessions logout 1 2"            => /name the ID of a user, and nothing else: 2/,
        "sessions logout"                => /name the ID of a user, or give --all\nTry: larder sessions logout --help/,
        "sessions logout 42 --all"       => /--all is everybody: 42/
      }.each { |words, message| assert_equal 2, refused(message, *words.split), words }
    end

    test "bytes that are no text are refused" do
      assert_equal 2, refused(/"\?" is not valid UTF-8\nTry: larder sessions logout/, *%w[sessions logout], "\xFF")
    end

    test "nobody who reads on is no error" do
      status = Open3.pipeline([Command::PLAIN, RbConfig.ruby, Command::PROGRAM, "sessions", "--help"], "head -1",
                              out: File::NULL, err: path_of("err")).first
      assert_predicate status, :success?
      assert_empty File.read(path_of("err"))
    end

    test "an error of the system is written without the function that failed" do
      said = StringIO.new
      CLI.guard("larder", CLI::Terminal.new(said)) { File.read("/nowhere/x") }
      assert_equal "larder: No such file or directory: /nowhere/x\n", said.string
    end

    test "a signal ends it in a shell's way" do
      File.write(path_of("slow.rb"), <<~RUBY)
        require "larder/cli"
        def (Larder::CLI::Sessions).fetch(_name) = ($stdout.puts("at work"); $stdout.flush; sleep)
      RUBY
      text, code = in_terminal("sessions", ruby: ["-I#{LIB}", "-r#{path_of("slow.rb")}"]) do |screen|
        assert screen.shows?(/at work/)
        screen.kill(:TERM)
      end
      assert_match(/larder: stopped by SIGTERM/, text)
      assert_equal 128 + Signal.list["TERM"], code
    end
  end
end
