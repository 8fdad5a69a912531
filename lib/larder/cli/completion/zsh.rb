# frozen_string_literal: true

# The completion script of zsh. It completes as a file _larder in $fpath, and when it is sourced.

require_relative "words"

module Larder
  module CLI
    class Completion
      # Writes a case for each command, with the specifications that _arguments takes.
      class Zsh
        Shells.register("zsh", self)

        FILES = '_files -g "*.larder(-.)"'
        SCRIPT = <<~ZSH
          #compdef larder
          # Completes `larder` in zsh. Written by: larder completion zsh

          _larder() {
            local -a followers specifications
            local command="" depth=0

            (( CURRENT > 2 )) && command=$words[2] depth=1
            if (( CURRENT > 3 )); then
              case "$command $words[3]" in
                %<below>s) command="$command $words[3]" depth=2 ;;
              esac
            fi

            case "$command" in
          %<cases>s
              (*) return 1 ;;
            esac

            shift $depth words
            (( CURRENT -= depth ))
            if (( CURRENT == 2 && $#followers )) && [[ $words[2] != -* ]]; then
              _describe -t commands 'word' followers
              (( $#specifications )) && _arguments $specifications
              return
            fi
            _arguments $specifications
          }

          if [[ $funcstack[1] == _larder ]]; then
            _larder "$@"
          else
            compdef _larder larder
          fi
        ZSH
        private_constant :FILES, :SCRIPT

        # @param words [Words]
        def initialize(words)
          @places = words.places
        end

        # @return [String]
        def script
          below = @places.map(&:words).grep(/ /).map { |words| %("#{words}") }
          format(SCRIPT, below: "(#{below.join("|")})", cases: @places.map { |place| branch(place) }.join("\n"))
        end

        private

        def branch(place)
          lines = []
          followers = place.followers.map { |word, text| quoted(text ? "#{word}:#{text.gsub(":", "\\:")}" : word) }
          lines << "followers=(#{followers.join(" ")})" if followers.any?
          specifications = [*place.options.map { |option| specification(option) },
                            *(quoted("*:file:#{FILES}") if place.file)]
          lines << "specifications=(\n        #{specifications.join("\n        ")}\n      )" if specifications.any?
          ["    (#{quoted(place.words)})", *lines.map { |line| "      #{line}" }, "      ;;"].join("\n")
        end

        # '(-h --help)'{-h,--help}'[this text]' is one option with two forms.
        def specification(option)
          text = "[#{option.text.gsub(/[\[\]:\\]/) { |character| "\\#{character}" }}]"
          text += ":#{option.argument}:#{FILES if option.file?}" if option.argument
          return "#{option.forms.first}#{quoted(text)}" if option.forms.size == 1

          "#{quoted("(#{option.forms.join(" ")})")}{#{option.forms.join(",")}}#{quoted(text)}"
        end

        def quoted(text)
          "'#{text.gsub("'", "'\\\\''")}'"
        end
      end
    end
  end
end
