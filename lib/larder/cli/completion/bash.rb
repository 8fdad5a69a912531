# frozen_string_literal: true

# The completion script of bash, for version 3.2 or later.

require_relative "words"

module Larder
  module CLI
    class Completion
      # Writes a case for each command, and a function that offers the words of its case.
      class Bash
        Shells.register("bash", self)

        # "--file=PATH" is three words for bash, and "--file" may be the one before the last.
        SCRIPT = <<~BASH
          # Completes `larder` in bash. Written by: larder completion bash

          _larder() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
            local command="" depth=0 followers="" words="" with_argument="" with_file="" file="" found

            if [[ $current == "=" ]]; then
              current=""
            elif [[ $previous == "=" ]]; then
              previous=${COMP_WORDS[COMP_CWORD - 2]}
            fi

            [[ $COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]} depth=1
            if [[ $COMP_CWORD -gt 2 ]]; then
              case "$command ${COMP_WORDS[2]}" in
                %<below>s) command="$command ${COMP_WORDS[2]}" depth=2 ;;
              esac
            fi

            case "$command" in
          %<cases>s
            esac

            COMPREPLY=()
            [[ $COMP_CWORD -eq $((depth + 1)) ]] && words="$followers $words"
            if [[ " $with_file " == *" $previous "* ]]; then
              words="" file=yes
            elif [[ " $with_argument " == *" $previous "* ]]; then
              return
            fi
            while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -W "$words" -- "$current")
            [[ -n $file && $current != -* ]] || return
            while IFS= read -r found; do COMPREPLY+=("$found"); done < <(
              compgen -f -X '!*.larder' -- "$current"
              compgen -d -- "$current"
            )
          }

          complete -o filenames -F _larder larder
        BASH
        private_constant :SCRIPT

        # @param words [Words]
        def initialize(words)
          @places = words.places
        end

        # @return [String]
        def script
          below = @places.map(&:words).grep(/ /).map { |words| %("#{words}") }
          format(SCRIPT, below: below.join(" | "), cases: @places.map { |place| branch(place) }.join("\n"))
        end

        private

        def branch(place)
          sets = { followers: place.followers.keys, words: forms(place.options),
                   with_file: forms(place.options.select(&:file?)),
                   with_argument: forms(place.options.select(&:argument).reject(&:file?)),
                   file: place.file ? ["yes"] : [] }.reject { |_, values| values.empty? }
          "    \"#{place.words}\") #{sets.map { |name, values| "#{name}=\"#{values.join(" ")}\"" }.join(" ")} ;;"
        end

        def forms(options)
          options.flat_map(&:forms)
        end
      end
    end
  end
end
