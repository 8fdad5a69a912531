# frozen_string_literal: true

# bin/demo --herd: sends many requests at once for a page of the recipes application, and reports how often its slow
# query ran and how long the answers took, without and with the options against stampedes.

require "json"
require "socket"
require "tmpdir"
require_relative "../../lib/larder/cli/errors"

module House
  # Runs the application twice, with and without the options of its cache, and sends the same requests to both.
  class Herd
    PAGE = "/rezept/index"
    REQUESTS = 100
    WORKERS = 3
    THREADS = 5
    QUERY_MS = 200
    # Seconds until a page expires: longer than all requests take on a slow machine.
    LIFETIME = 5
    OPTIONS = { "without" => {}, "with" => { single_flight: true, stale_while_revalidate: 60 } }.freeze
    private_constant :PAGE, :REQUESTS, :THREADS, :QUERY_MS, :LIFETIME, :OPTIONS

    # runs: how often the query ran; times: ms that each answer took, sorted.
    Outcome = Struct.new(:runs, :times) do
      # @return [String]
      def query_ran
        runs == 1 ? "once" : "#{runs} times"
      end

      # @param percent [Integer]
      # @return [String] the time within which that part of the requests was answered
      def within(percent)
        "#{times[(times.size * percent / 100.0).ceil - 1].round} ms"
      end
    end

    # One running application.
    class Server
      # The last requests are answered before an expired page is computed again, but not so long.
      COUNT_SECONDS = 10
      private_constant :COUNT_SECONDS

      # @param directory [String] of all its files
      # @param options [Hash{Symbol => Object}] of its cache
      # @param variables [Hash{String => String}] to run it with
      # @param application [String] directory of its sources
      def initialize(directory, options, variables, application)
        @socket, @count = %w[socket count].map { |name| File.join(directory, name) }
        @application = application
        cache = ["larder_store", File.join(directory, "cache.larder"), { expires_in: LIFETIME, **options }]
        @variables = variables.merge("RECIPES_STORAGE" => directory, "RECIPES_CACHE_STORE" => JSON.generate(cache),
                                     "HERD_COUNT" => @count)
      end

      # @return [void]
      def start
        File.write(@count, "")
        @output, writer = IO.pipe
        @pid = Process.spawn(@variables, "bundle", "exec", "puma", "--silent", "--config", "config/puma.rb",
                             "--bind", "unix://#{@socket}", "config.ru", chdir: @application, out: writer)
        writer.close
      end

      # @return [void]
      # @raise [Larder::CLI::Failure] it has ended
      def await
        @output.gets || raise(Larder::CLI::Failure, "the application could not be started; see above")
      end

      # @return [Outcome] of all requests, sent at once
      # @raise [Larder::CLI::Failure] another answer than the page
      def rush
        before = runs
        times = Array.new(REQUESTS) { Thread.new { request } }.map(&:value)
        deadline = now + (COUNT_SECONDS * 1000)
        sleep(0.01) while runs == before && now < deadline
        Outcome.new(runs - before, times.sort)
      end

      # @return [void]
      def stop
        return unless @pid

        Process.kill(:TERM, @pid)
        Process.wait(@pid)
        @output.close
      end

      private

      def runs
        File.size(@count)
      end

      def request
        Thread.current.report_on_exception = false # the thread that waits for it raises that
        start = now
        answer = UNIXSocket.open(@socket) do |io|
          io.write("GET #{PAGE} HTTP/1.0\r\nHost: localhost\r\n\r\n")
          io.read
        end
        raise Larder::CLI::Failure, "#{PAGE} answered #{answer[/.*/]}" unless answer.match?(/\AHTTP\S+ 200 /)

        now - start
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
      end
    end

    # @param variables [Hash{String => String}] that the application is run with
    # @param application [String] directory of its sources
    # @param workers [Integer] processes
    def initialize(variables, application, workers)
      @application = application
      @workers = workers
      @variables = variables.merge(
        "WEB_CONCURRENCY" => workers.to_s, "RAILS_MAX_THREADS" => THREADS.to_s, "RAILS_ENV" => "production",
        "RECIPES_GREETING" => "ready", "RECIPES_REQUIRE" => File.join(__dir__, "herd/slow_query.rb"),
        "HERD_SECONDS" => QUERY_MS.fdiv(1000).to_s
      )
    end

    # @return [Array<String>] lines: the result in a sentence, and a table
    # @raise [Larder::CLI::Failure]
    def report
      absent, expired = measure
      <<~TEXT.lines(chomp: true)
        #{REQUESTS} requests at once: with single_flight the query ran #{absent[1].query_ran}, without it #{absent[0].query_ran};
        with stale_while_revalidate half of them had the page after #{expired[1].within(50)}, without it after #{expired[0].within(50)}.

        #{line("", "query ran", "p50", "p99")}
        the page is not in the cache
        #{row("no option", absent[0])}
        #{row("single_flight: true", absent[1])}
        the page has expired
        #{row("no option", expired[0])}
        #{row("stale_while_revalidate: 1.minute", expired[1])}

        p50, p99: half of the requests, and 99 of 100, were answered within this time.
        Puma runs #{@workers} workers with #{THREADS} threads each. The query waits #{QUERY_MS} ms, however often it runs at
        once: a real database would be slower then.
      TEXT
    end

    private

    # @return [Array<Array(Outcome, Outcome)>] for a page that is absent, and one that has expired: without the options
    #   and with them
    def measure
      Dir.mktmpdir("larder-herd-") do |directory|
        servers = OPTIONS.map { |name, options| server(File.join(directory, name), options) }
        servers.each(&:start).each(&:await)
        absent = servers.map(&:rush)
        sleep(LIFETIME + 0.1)
        [absent, servers.map(&:rush)]
      ensure
        servers&.each(&:stop)
      end
    end

    def server(directory, options)
      Dir.mkdir(directory)
      Server.new(directory, options, @variables, @application)
    end

    def row(name, outcome)
      line("  #{name}", outcome.query_ran, outcome.within(50), outcome.within(99))
    end

    def line(name, *cells)
      name.ljust(36) + cells.map { |cell| cell.rjust(10) }.join
    end
  end
end
