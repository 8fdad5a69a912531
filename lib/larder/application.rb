# frozen_string_literal: true

# Owns what Larder asks of the application around it, be that Rails or not: where its root is, in which environment it
# runs, where a file is that nobody has named, and which of its lines made a call. Opens no file.

require "rbconfig"

module Larder
  # @api private
  module Application
    # Below the root.
    DIRECTORY = "storage/larder"
    # Where nobody says which environment it is, as Rails has it.
    DEFAULT_ENVIRONMENT = "development"
    # Whose lines are nobody's configuration: Larder's, Ruby's and those of gems.
    LIBRARIES = ["<internal:", "#{File.expand_path("..", __dir__)}/",
                 *RbConfig::CONFIG.values_at("rubylibdir", "sitedir", "vendordir").compact.map { |path| "#{path}/" },
                 *(Gem.path.flat_map { |home| ["#{home}/gems/", "#{home}/bundler/gems/"] } if defined?(Gem))]
                .each(&:freeze).freeze
    # Where Rails makes what it was configured with.
    BOOT = %r{/rails/(?:application|engine)\b}
    private_constant :DIRECTORY, :DEFAULT_ENVIRONMENT, :LIBRARIES, :BOOT

    class << self
      # @return [String, nil] what the files of this process end in, where it is one of several that must not share
      #   them, see ParallelTests
      attr_accessor :suffix
    end

    module_function

    # @return [String] what relative paths are taken from
    def root
      (Rails.root if defined?(Rails) && Rails.respond_to?(:root))&.to_s || Dir.pwd
    end

    # @param path [String] relative to the root, or absolute
    # @return [String] absolute; as it is where the working directory it is relative to was removed
    def absolute(path)
      File.expand_path(path, root)
    rescue Errno::ENOENT
      File.absolute_path?(path) ? File.expand_path(path, "/") : path
    end

    # @return [String]
    def environment
      return Rails.env.to_s if defined?(Rails) && Rails.respond_to?(:env)

      variable("RAILS_ENV") || variable("RACK_ENV") || DEFAULT_ENVIRONMENT
    end

    # Where a file is that nobody has named. Environments have a directory each; the file of all of them, where there
    # is only that, goes on being used, and a line says so.
    #
    # @param name [String]
    # @return [String] from the root
    # @raise [ArgumentError] the environment's name is that of no directory
    def file(name)
      own = File.join(DIRECTORY, directory_of(environment), name)
      shared = File.join(DIRECTORY, name)
      return own if File.exist?(absolute(own)) || !File.exist?(absolute(shared))

      warn("larder: #{shared} is used in all environments. To give #{environment} the file, stop what uses it and: " \
           "mkdir -m 700 #{File.dirname(own)} && mv #{shared}* #{File.dirname(own)}")
      shared
    end

    # @param path [String] that nobody has named for this process
    # @return [String] the same, or beside it where this process has files of its own
    def own(path)
      "#{path}#{suffix}"
    end

    # @param name [String] of an environment variable
    # @return [String, nil] nil: it is not set, or to nothing but blanks
    def variable(name)
      value = ENV.fetch(name, "").dup.force_encoding(Encoding::UTF_8)
      value unless value.scrub.strip.empty?
    end

    # One below the others, wherever files of other environments are.
    def directory_of(environment)
      return environment unless environment.include?("/") || [".", ".."].include?(environment)

      raise ::ArgumentError, "the environment #{environment.inspect} (RAILS_ENV, RACK_ENV) is no name of a " \
                             "directory, which its files are in; give it one without \"/\", such as \"production\""
    end
    private_class_method :directory_of

    # Notes that the caller configures something.
    #
    # @param option [Symbol] of Rails' configuration
    def note(option)
      (@noted ||= {})[option] = calling_line
    end

    # @param option [Symbol, nil] of Rails' configuration, whose line counts where Rails makes what it says
    # @return [String, nil] file and line of the first caller that is neither Larder's nor a gem's nor Ruby's
    def calling_line(option = nil)
      locations = caller_locations
      own = locations.index { |one| !one.path.start_with?(*LIBRARIES) }
      noted = @noted[option] if option && @noted
      return noted if noted && locations.first(own || locations.size).any? { |one| BOOT.match?(one.path) }

      "#{locations[own].path}:#{locations[own].lineno}" if own
    end
  end
end
