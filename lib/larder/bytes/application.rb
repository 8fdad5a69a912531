# frozen_string_literal: true

# Finds what Larder needs to know about the application, with Rails or without: its root, its environment, the default
# path of a file, and which line of the application made a call. Opens no file.

require "digest"
require "rbconfig"

module Larder
  # @api private
  module Application
    # Below the root.
    DIRECTORY = "storage/larder"
    # A file system in memory that all processes of a machine, or of a container, share.
    MEMORY = "/dev/shm"
    # The environment if none is set, as in Rails.
    DEFAULT_ENVIRONMENT = "development"
    # Files of Larder, Ruby and gems, whose lines are not the application's configuration.
    LIBRARIES = ["<internal:", "#{File.expand_path("../..", __dir__)}/",
                 *RbConfig::CONFIG.values_at("rubylibdir", "sitedir", "vendordir").compact.map { |path| "#{path}/" },
                 *(Gem.path.flat_map { |home| ["#{home}/gems/", "#{home}/bundler/gems/"] } if defined?(Gem))]
                .each(&:freeze).freeze
    # Files of Rails that create the cache and the sessions from the configuration.
    BOOT = %r{/rails/(?:application|engine)\b}
    private_constant :MEMORY, :DEFAULT_ENVIRONMENT, :LIBRARIES, :BOOT

    class << self
      # @return [String, nil] the suffix of this process's files, if it must not share them, see ParallelTests
      attr_accessor :suffix
    end

    module_function

    # @return [String] the base of relative paths
    def root
      (Rails.root if defined?(Rails) && Rails.respond_to?(:root))&.to_s || Dir.pwd
    end

    # A release that is removed while its processes run takes its symbolic links along, such as that of Capistrano's
    # linked_dirs. A worker forked after that would make a file of its own, which its deletes would go to.
    #
    # @param path [String] relative to the root, or absolute
    # @return [String] absolute. A directory below the root that a link leads out of the root is named by what the link
    #   leads to. Unchanged if the path is relative to a working directory that was removed
    # @raise [ArgumentError] the path ends in a slash, or begins with a home directory that is not known
    def absolute(path)
      wrong = objection(path)
      raise ::ArgumentError, wrong if wrong

      beyond_links(expanded(path))
    rescue Errno::ENOENT
      File.absolute_path?(path) ? File.expand_path(path, "/") : path
    end

    def expanded(path)
      File.expand_path(path, root)
    rescue ::ArgumentError => e # as for "~" without HOME
      raise ::ArgumentError, "the path #{path.inspect} has no meaning here (#{e.message}); name an absolute path"
    end

    # Bytes are compared: the name of the working directory has the encoding of the locale.
    #
    # @param path [String] absolute
    # @return [String] the path itself if no link below the root leads out of it
    def beyond_links(path)
      return path unless path.b.start_with?("#{root}/".b)

      there = File.dirname(path)
      there = File.dirname(there) until File.exist?(there) || File.symlink?(there)
      real = File.realpath(there)
      return path if "#{real}/".b.start_with?("#{File.realpath(root)}/".b)

      File.join(real.b, path.b.delete_prefix(there.b)).force_encoding(path.encoding)
    rescue SystemCallError
      path # a dangling or circular link, or a directory that may not be searched, is reported by the first use
    end

    # Without the check a file of that name would be created. A directory that is there is reported by the first use.
    #
    # @param path [String]
    # @return [String, nil] why it cannot be the path of a file; nil: it can
    def objection(path)
      return "the path #{path.inspect} contains a NUL byte" if path.b.include?("\0")
      return "the path #{path.inspect} is empty; name a file" if path.b.match?(/\A\s*\z/n)
      return if !path.end_with?("/") || File.directory?(path)

      "the path #{path} ends in a slash and names a directory; name a file in it, such as " \
        "#{File.join(path, "cache.larder")}"
    end

    # @return [String]
    def environment
      return Rails.env.to_s if defined?(Rails) && Rails.respond_to?(:env)

      named_environment || DEFAULT_ENVIRONMENT
    end

    # @return [String, nil] nil: no variable names one
    def named_environment
      variable("RAILS_ENV") || variable("RACK_ENV")
    end

    # @return [ActiveSupport::Cache::Store] Rails.cache
    # @raise [ArgumentError] there is none
    def cache
      (Rails.cache if defined?(Rails) && Rails.respond_to?(:cache)) ||
        raise(ArgumentError, "there is no Rails.cache; name a store by cache:")
    end

    # @return [Logger, nil] of Rails, once it has one
    def logger
      Rails.logger if defined?(Rails) && Rails.respond_to?(:logger)
    end

    # Logs a line as an error; without a logger it goes to $stderr.
    def log(line)
      logger ? logger.error(line) : warn(line)
    end

    # @return [ActiveSupport::Executor, nil] of the Rails application
    def executor
      Rails.application&.executor if defined?(Rails) && Rails.respond_to?(:application)
    end

    # Yields as a piece of work of the Rails application: connections to databases are given back at its end.
    #
    # @return [Object] the block's value
    def in_executor(&block)
      executor ? executor.wrap(&block) : yield
    end

    # The default path of a file, in the directory of the environment.
    #
    # @param name [String]
    # @param base [String, nil] an absolute directory; nil: the root
    # @return [String] below the base; relative if that is the root
    # @raise [ArgumentError] the environment's name cannot be the name of a directory
    def file(name, base: nil)
      File.join(*base, DIRECTORY, directory_of(environment), name)
    end

    # The default path of a file that is in memory only: of this user, application and environment.
    #
    # @param name [String]
    # @param memory [String] the file system in memory
    # @return [String] absolute
    # @raise [ArgumentError] the system has no such place, or another user has it
    def file_in_memory(name, memory: MEMORY)
      unless File.directory?(memory)
        raise ::ArgumentError, "persistent: false puts the file into #{memory}, which this system does not have; " \
                               "leave it out"
      end

      own = File.join(memory, "larder-#{Process.euid}")
      take(own) if Process.euid.zero?
      File.join(own, Digest::SHA256.hexdigest(root_of_releases).slice(0, 12), directory_of(environment), name)
    end

    # All users may make directories there. Root trusts the owner of a directory, and would give him its files.
    def take(directory)
      Dir.mkdir(directory, 0o700)
    rescue Errno::EEXIST
      owner = File.lstat(directory).uid
      return if owner.zero?

      raise ::ArgumentError, "persistent: false puts the file into #{directory}, which belongs to the user #{owner}, " \
                             "not to root: rm -r #{directory}, or leave it out"
    rescue SystemCallError
      nil # the first use reports it
    end

    # A release has a root of its own. With a file for each of them, deletes by processes of the former release would
    # not reach the new one, and every deploy would leave a file in memory.
    #
    # @return [String] the directory that Capistrano, Mina or Deployer deploys to; otherwise the root
    def root_of_releases
      base = root[%r{\A(.+)/releases/[^/]+\z}, 1]
      base && File.symlink?(File.join(base, "current")) ? base : root
    end

    # @param path [String] a default path
    # @return [String] the same, with this process's suffix
    def own(path)
      "#{path}#{suffix}"
    end

    # @param name [String] of an environment variable
    # @return [String, nil] nil: not set, or blank
    def variable(name)
      value = ENV.fetch(name, "").dup.force_encoding(Encoding::UTF_8)
      value unless value.scrub.strip.empty?
    end

    # The name of a directory of its own; never a path that leads elsewhere.
    def directory_of(environment)
      return environment unless environment.include?("/") || [".", ".."].include?(environment)

      raise ::ArgumentError, "the environment #{environment.inspect} (RAILS_ENV, RACK_ENV) is no name of a " \
                             "directory, which its files are in; give it one without \"/\", such as \"production\""
    end
    private_class_method :expanded, :take, :root_of_releases, :directory_of

    # Notes that the caller configures something.
    #
    # @param option [Symbol] of Rails' configuration
    def note(option)
      (@noted ||= {})[option] = calling_line
    end

    # @param option [Symbol, nil] of Rails' configuration; if Rails itself makes the call, the line that set it
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
