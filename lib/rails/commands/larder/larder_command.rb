# frozen_string_literal: true

# The commands of `larder` as commands of Rails: bin/rails larder:stat. Rails loads this file when one of them is called
# or when it lists its commands, never with the application.

require "rails" # before Larder, which then has its railtie
require "larder/cli"
require "larder/rails/configured_files"

module Rails
  module Command
    # Runs `larder` with the file of the application's configuration as the default.
    #
    # @api private
    class LarderCommand < Base
      Larder::CLI::Commands.of_files.each do |name|
        desc name, Larder::CLI::Commands.fetch(name)::SUMMARY
        define_method(name) { |*| pass_on(name) }
      end

      no_commands do
        # bin/rails larder:stat --help
        def help(name = nil, *)
          exit Larder::CLI.run([*name, "--help"])
        end

        # Rails gives a command its arguments as ARGV, too. There Thor has not taken any for its own.
        def pass_on(name)
          exit Larder::CLI.run([name, *ARGV], files: files)
        end

        # The environment's configuration has the cache; it is loaded without the initializers of the application.
        def files
          Larder::ConfiguredFiles.new do |initializers|
            initializers ? boot_application! : load_environment_config!
          end
        end
      end
    end
  end
end
