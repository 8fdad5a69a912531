# frozen_string_literal: true

# The words that may follow each other on the command line, read from the commands and their options.

require_relative "../registry"

module Larder
  module CLI
    class Completion
      # Lists the commands, those below others too, with their options and arguments.
      class Words
        # An option: its forms ("-h", "--help"), the name of its argument or nil, and its help.
        Option = Struct.new(:forms, :argument, :text, keyword_init: true) do
          # @return [Boolean]
          def file?
            argument == FILE
          end
        end

        # A command: its words ("sessions logout"), what it does, options, words that may follow it and what each does,
        # and whether a file may follow.
        Place = Struct.new(:words, :text, :options, :followers, :file, keyword_init: true)

        # The name of an argument that is a cache's file.
        FILE = "PATH"
        # The options of `larder` itself.
        TOP = [Option.new(forms: ["-h", "--help"], text: "lists the commands"),
               Option.new(forms: ["--version"], text: "prints the version")].freeze
        HELP = "explains a command"
        # In a usage: an option with its argument.
        OPTION = /--[a-z-]+[ =][A-Z]+/
        private_constant :FILE, :TOP, :HELP, :OPTION

        # @param commands [Registry] see {Program}
        def initialize(commands)
          @commands = commands
        end

        # @return [Array<Place>] the first is that of `larder` alone
        def places
          @places ||= [Place.new(words: "", options: TOP, followers: { **summaries, "help" => HELP }, file: false),
                       Place.new(words: "help", options: [], followers: summaries, file: false),
                       *@commands.names.flat_map { |name| with_below(name, @commands.fetch(name)) }]
        end

        private

        def summaries
          @commands.names.to_h { |name| [name, @commands.fetch(name)::SUMMARY] }
        end

        def with_below(name, command)
          return [place(name, command)] unless command.is_a?(Registry)

          below = command.names.map { |each| place("#{name} #{each}", command.fetch(each)) }
          [place(name, command.default, command.names), *below]
        end

        def place(words, command, names = command.respond_to?(:choices) ? command.choices : [])
          made = command.new
          Place.new(words: words, options: made.switches.map { |switch| option(switch) },
                    followers: names.to_h { |name| [name, nil] }, file: made.usage.gsub(OPTION, "").include?(FILE))
        end

        def option(switch)
          argument = switch.arg&.strip
          Option.new(forms: [*switch.short, *switch.long], argument: argument, text: switch.desc.join(" "))
        end
      end
    end
  end
end
