# frozen_string_literal: true

# Parses the options by which contenders and their servers are chosen, for all commands that measure stores.

require_relative "../command_line"
require_relative "../contenders"
require_relative "../servers"

module Larder
  module Lab
    module Commands
      # For classes that include {CommandLine}. `registry` is chosen from, and `chosen_contenders` take part.
      module ContenderOptions
        # Marks in the list what is left out by default.
        ON_REQUEST = "(*)"
        PLACES = <<~TEXT

          Where (default: private servers, started from the PATH and stopped afterwards).
          The lab deletes none of your data in a running server: its keys have a prefix
          and expire after 5 minutes; in SQL it creates and later drops a schema or
          database named larder_lab, and refuses to use an existing one of yours.
        TEXT
        private_constant :PLACES

        # @return [Hash{String=>String}] servers of the user's, by names in {Servers}
        def urls
          @urls ||= {}
        end

        # @return [Array<String>] files to load
        def requires
          @requires ||= []
        end

        # @return [Array<String>] names of the chosen contenders
        # @raise [UsageError] for an unknown one, and if none is left
        def contenders
          chosen = registry.check(chosen_contenders) - registry.check(@except || [])
          raise UsageError, "--only and --except leave no contender" if chosen.empty?

          chosen
        end

        private

        # A file that adds contenders is needed before their names are checked.
        def load_extensions
          requires.each do |file|
            require file
          rescue LoadError => error
            raise UsageError, "--require #{file}: #{error.message}"
          end
        end

        # A class that has --quick says so.
        def quick?
          @quick == true
        end

        def contender_options(options)
          options.on("--only A,B", Array, "these contenders, or all") { |names| @only = names }
          options.on("--except A,B", Array, "all contenders but these") { |names| @except = names }
        end

        def extension_options(options)
          options.on("--require FILE", "load a file that adds contenders", "(see the README of larder-lab)") do |file|
            requires << (File.exist?(file) ? File.expand_path(file) : file)
          end
        end

        def server_options(options)
          options.separator(PLACES)
          (Servers.names & registry.names.map { |name| registry.fetch(name).server }).each do |name|
            options.on("--#{name}-url URL", "a running #{Servers.fetch(name).title}") { |url| urls[name] = url }
          end
          options.on("--dir DIR", "where stores keep their files", "(default: a temporary directory)") do |dir|
            @directory = dir
          end
        end

        # Names and titles of what a registry holds.
        # @param usual [Array<String>] those that take part although they do so only on request elsewhere
        def listed(registry, width = registry.names.map(&:size).max, usual: [])
          registry.names.map do |name|
            entry = registry.fetch(name)
            "  #{name.ljust(width)}  #{entry.title}#{" #{ON_REQUEST}" if entry.on_request? && !usual.include?(name)}"
          end
        end

        def positive(option, number)
          return number if number.positive?

          raise UsageError, "#{option} must be 1 or more, not #{number}"
        end

        def some(option, number)
          return number if number.positive? && number.finite?

          raise UsageError, "#{option} must be more than 0, not #{number}"
        end
      end
    end
  end
end
