# frozen_string_literal: true

# The command line of bin/foreign.

require_relative "../../lib/larder/cli/command"
require_relative "run"

module Foreign
  # Parses the options and runs.
  class Command < Larder::CLI::Command
    BANNER = <<~TEXT.freeze
      usage: bin/foreign [options] NAME

      Runs an application that others wrote on Larder, and next to it the same on its own stores. NAME is one of
      #{APPLICATIONS.keys.join(", ")}.

      First its own tests run on both sides, with caching on, and the results are compared test by test. Then Puma
      serves it on both sides while users browse: each request goes to both, and the pages are compared. In the middle
      come deploys with another option, a rollback, killed workers and masters, a full disk, and larder's commands.

      The application is fetched from --source, with its gems, into --directory. Nothing of it is kept elsewhere. It
      needs git, Bundler and a C compiler; a full disk needs root. The exit code is 1 if something differs.

      Options:
    TEXT
    PARTS = ["tests", "life"].freeze
    PAUSES = (0..600)

    def initialize(...)
      super
      @values = { parts: PARTS, groups: nil, minutes: 10.0, seed: 1, pause: 0, calm: false, record: nil }
      @directory = @source = @branch = nil
      @proof = false
    end

    private

    def operands(rest)
      @name = rest.shift
      known = APPLICATIONS.keys.join(", ")
      raise Larder::CLI::UsageError, "needs the name of an application: #{known}" unless @name
      raise Larder::CLI::UsageError, "unknown application #{@name}; known: #{known}" unless APPLICATIONS.key?(@name)
      raise Larder::CLI::UsageError, "one application at a time: #{rest.first}" unless rest.empty?
    end

    def understood
      locate
      check_groups
      check_record if @values[:record]
    end

    def locate
      @source ||= ENV.fetch("LARDER_FOREIGN_#{@name.upcase}", nil)
      return if @source

      raise Larder::CLI::UsageError, "where is #{@name}? Name its git repository by --source or " \
                                     "LARDER_FOREIGN_#{@name.upcase}"
    end

    def check_groups
      unknown = (@values[:groups] || []) - APPLICATIONS.fetch(@name)::TESTS.keys
      return if unknown.empty?

      raise Larder::CLI::UsageError,
"unknown group #{unknown.first}; known: #{APPLICATIONS.fetch(@name)::TESTS.keys.join(", ")}"
    end

    # A trace is appended to: that of an earlier life would be its beginning.
    def check_record
      file = @values[:record]
      raise Larder::CLI::UsageError, "--record needs the life: leave out --only tests" unless
        @values[:parts].include?("life")
      raise Larder::CLI::UsageError, "--record needs --calm: a new server would begin another recording" unless
        @values[:calm]
      raise Larder::CLI::UsageError, "--record #{file} exists: name a new file" if File.exist?(file)
      return if File.writable?(File.dirname(file))

      raise Larder::CLI::UsageError, "--record #{file}: #{File.dirname(file)} is not a directory that can be written"
    end

    def act
      if @values[:parts].include?("life") && Disk.missing
        raise Larder::CLI::Failure, "the life needs a disk of its own: #{Disk.missing}"
      end

      $stdout.sync = true
      directory = @directory || File.join(House::ROOT, "tmp/foreign", @name)
      application = APPLICATIONS.fetch(@name).new(@source, directory: File.expand_path(directory), branch: @branch)
      run = Run.new(application, **@values).run
      puts(@proof ? run.proof : run.text)
      run.passed? ? 0 : 1
    end

    def parser
      @parser ||= explained(BANNER, width: 18) do |options|
        options.on("--source URL", "its git repository (LARDER_FOREIGN_NAME)") { |url| @source = url }
        options.on("--branch NAME", "branch or tag") { |name| @branch = name }
        options.on("--directory DIR", "for all that is made (tmp/foreign/NAME)") { |path| @directory = path }
        options.on("--minutes N", Float, "duration of its life (10)") do |minutes|
          raise OptionParser::InvalidArgument, "#{minutes}: must be more than 0" unless minutes.positive?

          @values[:minutes] = minutes
        end
        options.on("--only PART", PARTS, "only its tests, or only its life: #{PARTS.join(", ")}") do |part|
          @values[:parts] = [part]
        end
        options.on("--groups A,B", Array, "groups of its tests (all)") { |groups| @values[:groups] = groups }
        options.on("--seed N", Integer, "seed of what users do (1)") { |seed| @values[:seed] = seed }
        options.on("--pause SECONDS", Float, "a user waits so long after each step of a visit (0)") do |pause|
          unless PAUSES.cover?(pause)
            raise OptionParser::InvalidArgument, "#{pause}: must be from #{PAUSES.min} to #{PAUSES.max}"
          end

          @values[:pause] = pause
        end
        options.on("--calm", "no events in its life: users alone") { @values[:calm] = true }
        options.on("--record FILE", "a new trace of Larder's side, for larder-lab replay: no keys, no values") do |path|
          @values[:record] = File.expand_path(path)
        end
        options.on("--counts", "print the findings for bin/proof") { @proof = true }
      end
    end
  end
end
