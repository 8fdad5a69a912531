# frozen_string_literal: true

# Runs the own tests of an application on one side.

require "fileutils"
require "json"
require_relative "shell"

module Foreign
  # The tests of one copy, which are written for Minitest.
  class Suite
    PLUGIN = File.join(__dir__, "plugin")
    # One order on both sides: a test may see what those before it have cached.
    SEED = "1"

    # @param application [Application]
    # @param copy [String] its directory
    # @param name [String] for logs
    def initialize(application, copy, name)
      @application = application
      @copy = copy
      @name = name
    end

    # @param group [String] of the application's TESTS
    # @param only [Array<String>, nil] names of tests; nil: all
    # @return [Hash{String => Hash}] test => "result" and "message"
    # @raise [Shell::Failed] where no test ran
    def run(group, only: nil)
      results = prepared(group)
      env = @application.variables("test").merge("FOREIGN_RESULTS" => results)
      log = File.join(@application.directory, "logs", "#{@name}-#{group}.log")
      Shell.status(command(files(group), only, results), env: env, dir: @copy, log: log)
      raise Shell::Failed, "no test of #{group} ran; see #{log}" unless File.size?(results)

      self.class.read(results)
    end

    # @param file [String] lines of JSON
    # @return [Hash{String => Hash}]
    def self.read(file)
      File.readlines(file).to_h do |line|
        result = JSON.parse(line)
        [result.delete("test"), result]
      end
    end

    private

    def prepared(group)
      file = File.join(@application.directory, "results", "#{@name}-#{group}.json")
      FileUtils.mkdir_p(File.dirname(file))
      FileUtils.rm_f(file)
      file
    end

    # Relative paths, which are the same on both sides.
    def files(group)
      found = @application.class::TESTS.fetch(group).flat_map { |glob| Dir[glob, base: @copy] }.sort
      found.empty? ? raise(Shell::Failed, "no tests of #{group} in #{@copy}") : found
    end

    def command(files, only, _results)
      load = "ARGV.take_while { |one| one != %(--) }.each { |file| require File.expand_path(file) }"
      filter = only ? ["-n", "/\\A(?:#{only.map { |name| Regexp.escape(name) }.join("|")})\\z/"] : []
      ["bundle", "exec", "ruby", "-I#{PLUGIN}", "-Itest", "-e", load, *files, "--", "--seed", SEED, *filter]
    end
  end
end
