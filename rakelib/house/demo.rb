# frozen_string_literal: true

# bin/demo: checks what it needs, sets the recipes application up, and becomes its server
# (examples/recipes/config/puma.rb).

require "rbconfig"
require "socket"
require_relative "environment"
require_relative "herd"
require_relative "machines"
require_relative "../../examples/recipes/lib/recipes"
require_relative "../../lib/larder/cli/command"

module House
  # Sets the recipes application up and starts it.
  class Demo < Larder::CLI::Command
    # Why the demo cannot start, and what to do about it.
    Error = Larder::CLI::Failure

    APPLICATION = File.join(ROOT, "examples/recipes")
    # The first port to try.
    PORT = 3000
    # Ports tried from there on.
    TRIED = 100
    WORKERS = 2

    # Required programs, and their Debian packages.
    PROGRAMS = { "bundle" => "ruby-bundler", "cc" => "build-essential", "make" => "build-essential" }.freeze

    HELP = <<~TEXT
      usage: bin/demo [options]

      Sets up and starts a small Rails application, a cook book, that keeps its pages and
      its readers' sessions in Larder. Prints where it answers and who may sign in. The
      first start takes some minutes longer: it installs gems into vendor/bundle and
      compiles Larder. Ctrl-C ends it.

      At /larder is the dashboard of its cache and its sessions, at /metrics what
      Prometheus reads. Both answer only browsers on this machine.

      What it writes is in examples/recipes/storage, and is there again at the next start:
      stop it, start it with another --release, and see that you are still signed in.
      RECIPES_STORAGE names another directory; examples/recipes/README.md has all variables.

      With --herd it sends 100 requests at once for one page, shows how often its slow query
      runs and how long they wait, without and with what docs/guides/stampedes.md and
      stale-values.md describe, and ends.

      With --machines 3 it starts as many machines with a Redis behind them, shows a change
      that all of them hear of and what they answer while Redis is dead
      (docs/guides/many-machines.md), and ends.

      Needed: Ruby 3.1 or newer with its headers, Bundler, a C compiler, make.

      Options:
    TEXT
    private_constant :PROGRAMS, :TRIED, :WORKERS

    def initialize(...)
      super
      @release = "1"
    end

    private

    # Without --herd it does not return: the process becomes the server.
    #
    # @raise [Error] naming what is missing or has failed
    def act
      check_programs
      free!(@port) if @port
      install_gems
      step("compile Larder", ["rake", "--silent", "compile"], chdir: ROOT)
      return show_machines if @machines

      step("prepare the recipes", [RbConfig.ruby, "bin/prepare"], chdir: APPLICATION)
      return show_herd if @herd

      serve(@port || first_free)
    end

    def show_herd
      note "starting the application twice; this takes about ten seconds"
      own = variables.merge("RECIPES_DATABASE" => Recipes.database)
      say(Herd.new(own, APPLICATION, @workers || Herd::WORKERS).report)
    end

    # They use the gems of the repository.
    def show_machines
      own = Environment.variables(File.join(ROOT, "Gemfile"))
      say(Machines.new(@machines, own, ->(text) { note(text) }).report)
    end

    def parser
      @parser ||= explained(HELP) do |options|
        options.on("--port N", Integer, "port on 127.0.0.1 (without it #{PORT}, or the next that is free)") do |port|
          raise OptionParser::InvalidArgument, port.to_s unless port.between?(1, 65_535)

          @port = port
        end
        options.on("--workers N", Integer,
                   "processes, which share cache and sessions (#{WORKERS}; --herd: #{Herd::WORKERS})") do |count|
          raise OptionParser::InvalidArgument, count.to_s unless count.between?(0, 64)

          @workers = count
        end
        options.on("--release NAME", "what the foot of each page calls this version (#{@release})") do |name|
          @release = name
        end
        options.on("--herd", "shows many requests at once, and ends") { @herd = true }
        options.on("--machines N", Integer, "shows N machines, 2 to 8, and ends") do |count|
          raise OptionParser::InvalidArgument, "#{count}, it takes 2 to 8" unless count.between?(2, 8)

          @machines = count
        end
      end
    end

    def note(text)
      @err.puts("bin/demo: #{text}")
    end

    def check_programs
      raise Error, "Ruby #{RUBY_VERSION} is too old: 3.1 or newer is needed" if RUBY_VERSION.to_f < 3.1

      missing = PROGRAMS.reject { |program, _| Environment.program?(program) }.to_a
      missing << ["Ruby's headers", "ruby-dev"] unless File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))
      return if missing.empty?

      raise Error, "missing: #{missing.map(&:first).join(", ")} " \
                   "(Debian: apt-get install #{missing.map(&:last).uniq.join(" ")})"
    end

    # The application's own gems, or those of BUNDLE_GEMFILE.
    def variables
      given = ENV.fetch("BUNDLE_GEMFILE", "")
      Environment.variables(given.empty? ? File.join(APPLICATION, "Gemfile") : File.expand_path(given))
    end

    def install_gems
      return if system(variables, "bundle", "check", out: File::NULL, err: File::NULL)

      note "installing gems into #{Environment.gem_path}"
      system(variables.merge("BUNDLE_RETRY" => "3"), "bundle", "install", out: :err) ||
        raise(Error, "the gems could not be installed; see above")
    end

    def step(name, command, chdir:)
      system(variables, "bundle", "exec", *command, chdir: chdir, out: :err) ||
        raise(Error, "could not #{name}; see above")
    end

    def first_free
      (PORT...PORT + TRIED).find { |port| free?(port) } ||
        raise(Error, "ports #{PORT} to #{PORT + TRIED - 1} are in use; name another with --port")
    end

    def free!(port)
      free?(port) || raise(Error, "port #{port} is in use or not allowed; name another with --port")
    end

    def free?(port)
      TCPServer.new("127.0.0.1", port).close
      true
    rescue SystemCallError
      false
    end

    def serve(port)
      workers = @workers || WORKERS
      note "starting #{workers.zero? ? "one process" : "#{workers} workers"}"
      settings = { "PORT" => port.to_s, "WEB_CONCURRENCY" => workers.to_s, "RECIPES_RELEASE" => @release,
                   "RAILS_ENV" => ENV.fetch("RAILS_ENV", "production"), "RECIPES_GREETING" => greeting(port) }
      exec(variables.merge(settings), "bundle", "exec", "puma", "--silent", "--config", "config/puma.rb", "config.ru",
           chdir: APPLICATION)
    end

    def greeting(port)
      name, password = Recipes::USERS.first
      <<~TEXT

        Larder Recipes, release #{@release}:  http://127.0.0.1:#{port}/
        The dashboard of its cache:  http://127.0.0.1:#{port}/larder
        Sign in as #{name} with the password #{password}. Ctrl-C ends it.

      TEXT
    end
  end
end
