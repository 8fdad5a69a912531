# frozen_string_literal: true

# Paths of this checkout, and the environment variables that its commands run with, which Gemfile among them.

require "etc"
require "open3"

module House
  ROOT = File.expand_path("../..", __dir__)

  # Gemfiles, locks, and the directory for gems, as environment variables that Bundler reads.
  module Environment
    # Rails, and the Gemfile that brings it.
    GEMFILES = { "7.1" => "gemfiles/rails_7_1.gemfile", "7.2" => "Gemfile", "8.0" => "gemfiles/rails_8_0.gemfile",
                 "8.1" => "gemfiles/rails_8_1.gemfile" }.freeze

    module_function

    # @return [String] absolute path of the Gemfile: BUNDLE_GEMFILE where set, else the newest stack this Ruby runs
    def gemfile
      given = ENV.fetch("BUNDLE_GEMFILE", "")
      given.empty? ? gemfile_of(rails.last) : File.expand_path(given, ROOT)
    end

    # @return [Array<String>] the Rails that this Ruby is tested with, the newest last
    def rails
      Gem::Version.new(RUBY_VERSION) >= Gem::Version.new("3.2") ? ["8.0", "8.1"] : ["7.1", "7.2"]
    end

    # @param rails [String] a key of GEMFILES
    # @return [String] absolute path
    def gemfile_of(rails)
      File.join(ROOT, GEMFILES.fetch(rails))
    end

    # @return [Array<String>] absolute paths of those that bin/test needs: that of #gemfile first; the others only where
    #   BUNDLE_GEMFILE is not set
    def gemfiles
      chosen = ENV.fetch("BUNDLE_GEMFILE", "")
      chosen.empty? ? rails.reverse.map { |name| gemfile_of(name) } : [gemfile]
    end

    # @return [String] absolute path of the lab's Gemfile
    def lab_gemfile
      File.join(ROOT, "lab/Gemfile")
    end

    # @param path [String] absolute
    # @return [String] from the root of the checkout on; a path elsewhere as it is
    def relative(path)
      path.delete_prefix("#{ROOT}/")
    end

    # Gems go into the checkout, so that neither root nor a home directory is needed.
    #
    # @param gemfile [String] absolute path
    # @return [Hash{String => String}] variables to run a command with
    def variables(gemfile = self.gemfile)
      {
        "BUNDLE_GEMFILE" => gemfile,
        "BUNDLE_PATH" => gem_path,
        "BUNDLE_SILENCE_ROOT_WARNING" => "1",
        "BUNDLE_DISABLE_VERSION_CHECK" => "1",
        "RUBYOPT" => nil,
        "RUBYLIB" => nil
      }
    end

    # @return [String] where Bundler puts this checkout's gems
    def gem_path
      ENV.fetch("BUNDLE_PATH") { File.join(ROOT, "vendor/bundle") }
    end

    # @return [String] directory for downloads that all checkouts share: a stack's root, Rails' tests
    def cache_directory
      base = ENV.fetch("XDG_CACHE_HOME", "")
      base = root? ? "/var/cache" : File.join(Dir.home, ".cache") if base.empty?
      File.join(base, "larder")
    end

    # @return [Boolean] whether a program of that name is in PATH
    def program?(name)
      !program(name).nil?
    end

    # @return [String, nil] absolute path of a program in PATH
    def program(name)
      ENV.fetch("PATH", "").split(File::PATH_SEPARATOR)
         .map { |directory| File.join(directory, name) }
         .find { |path| File.file?(path) && File.executable?(path) }
    end

    # @return [String, nil] the first line that a command prints; nil where it fails, prints nothing or is not there
    def said(*command)
      output, status = Open3.capture2e(*command)
      line = output.lines.first&.strip
      line if status.success? && line && !line.empty?
    rescue SystemCallError
      nil
    end

    # @return [String, nil] the short hash of this checkout's commit, and whether its files have changed since
    def commit
      hash = said("git", "-C", ROOT, "rev-parse", "--short", "HEAD")
      changed = said("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no")
      hash && "#{hash}#{" with changes" if changed}"
    end

    # @return [Integer] processors to use
    def processors
      Etc.nprocessors
    end

    # @return [Boolean] whether we may install Debian packages
    def root?
      Process.euid.zero?
    end
  end
end
