# frozen_string_literal: true

# `larder completion`: prints a script that completes the commands of `larder` in a shell.

require_relative "command"
require_relative "registry"

module Larder
  module CLI
    # `larder completion`: prints a shell's completion script.
    class Completion < Command
      # The name that users type.
      NAME = "completion"
      # One line for `larder --help`.
      SUMMARY = "prints a completion script for a shell"
      Commands.register(NAME, self)

      # The shells. Each entry is made of {Completion::Words}, and has a `script`.
      module Shells
        extend Registry
        holds "shell"
      end

      BANNER = <<~TEXT
        Usage: larder completion SHELL

        Prints a script that completes commands, options and files for bash, zsh or
        fish. To install it, where the directory exists:

          larder completion bash > ~/.local/share/bash-completion/completions/larder
          larder completion zsh > "${fpath[1]}/_larder"
          larder completion fish > ~/.config/fish/completions/larder.fish

        Or in bash and zsh, for the current shell: source <(larder completion bash)
      TEXT
      private_constant :BANNER

      # @return [Array<String>] what may stand for SHELL
      def self.choices
        Shells.names
      end

      private

      def parser
        @parser ||= explained(BANNER) { |options| options.separator("\nOptions:") }
      end

      def operands(rest)
        raise UsageError, "name a shell: #{Shells.names.join(", ")}" if rest.empty?

        @shell = Shells.fetch(rest.first)
        super(rest.drop(1))
      end

      def act
        say(@shell.new(Words.new(Commands)).script.lines(chomp: true))
      end
    end
  end
end

require_relative "completion/words"
require_relative "completion/bash"
require_relative "completion/zsh"
require_relative "completion/fish"
