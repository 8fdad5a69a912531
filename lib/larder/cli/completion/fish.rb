# frozen_string_literal: true

# The completion script of fish.

require_relative "words"

module Larder
  module CLI
    class Completion
      # Writes a line for each word that may follow a command, with the condition that the command was typed.
      class Fish
        Shells.register("fish", self)

        SCRIPT = <<~'FISH'
          # Completes `larder` in fish. Written by: larder completion fish

          # True if the words before the cursor are those of the command, which may be empty.
          function __larder_at
              set -l words (commandline -opc)
              set -e words[1]
              set -l command "$words[1]"
              switch "$command $words[2]"
                  case %<below>s
                      set command "$command $words[2]"
              end
              test "$command" = "$argv[1]"
          end

          # True if no word has been typed after the command.
          function __larder_right_after
              __larder_at $argv[1]
              and test (count (commandline -opc)) -eq (math 1 + (string split -n ' ' "$argv[1]" | count))
          end

          # Caches' files, and directories.
          function __larder_files
              __fish_complete_path (commandline -ct) | string match -r '^[^\t]*(?:/|\.larder)(?:\t.*)?$'
          end

          complete -c larder -f
          %<lines>s
        FISH
        FILES = "-a '(__larder_files)'"
        private_constant :SCRIPT, :FILES

        # @param words [Words]
        def initialize(words)
          @places = words.places
        end

        # @return [String]
        def script
          below = @places.map(&:words).grep(/ /).map { |words| quoted(words) }
          format(SCRIPT, below: below.join(" "), lines: @places.flat_map { |place| lines(place) }.join("\n"))
        end

        private

        def lines(place)
          after, at = ["__larder_right_after", "__larder_at"].map { |test| quoted("#{test} #{quoted(place.words)}") }
          [*place.followers.map { |word, text| line(after, "-a #{word}", text) },
           *place.options.map { |option| line(at, flags(option), option.text) },
           *(line(at, "-k #{FILES}", nil) if place.file)]
        end

        def line(condition, what, text)
          ["complete -c larder -n #{condition} #{what}", *("-d #{quoted(text)}" if text)].join(" ")
        end

        def flags(option)
          forms = option.forms.map { |form| form.start_with?("--") ? "-l #{form[2..]}" : "-s #{form[1..]}" }
          [*forms, *("-x" if option.argument), *(FILES if option.file?)].join(" ")
        end

        def quoted(text)
          "'#{text.gsub(/['\\]/) { |character| "\\#{character}" }}'"
        end
      end
    end
  end
end
