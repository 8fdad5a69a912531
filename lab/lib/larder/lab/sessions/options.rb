# frozen_string_literal: true

require_relative "../loads/options"
require_relative "../reports/figures"
require_relative "pages"
require_relative "stores"

module Larder
  module Lab
    module Sessions
      # The options of `larder-lab sessions`.
      class Options < Loads::Options
        LOAD = "sessions"
        DEFAULT = { rounds: 5, seconds: 0.2, sessions: 10_000, requests: 1_000, served: 10_000, limit: nil }.freeze
        QUICK = { rounds: 3, seconds: 0.05, sessions: 1_000, requests: 40, served: 200, limit: nil }.freeze
        # Who takes part in a quick run.
        QUICKLY = %w[larder sql-mariadb memcached].freeze
        # What is measured, by the names users type.
        PARTS = { "work" => "what a session adds to a request: the middleware alone",
                  "pages" => "pages of a real application, asked for in process",
                  "puma" => "the same over HTTP on loopback" }.freeze
        # Those that need the application.
        OF_APPLICATION = %w[pages puma].freeze
        # Of --sessions: with fewer, all of them would be in the processor's cache.
        LEAST = 100
        # Connections to Puma: one more than it has threads.
        CONNECTIONS = 4
        # Seconds that a process of the application takes until it can be asked, and a page of it.
        BOOT = 3.0
        PAGE = 0.004
        BANNER = <<~TEXT
          Usage: larder-lab sessions [options]

          Measures sessions in Larder, SQL, memcached, Redis, files and cookies. Each
          store holds 10,000 sessions. Then there are up to three parts:

            work   what a session adds to a request: the Rails middleware alone, around
                   an endpoint that reads a value, changes one, or starts a session; the
                   same request without a session is subtracted
            pages  the published comparison: pages of a real application
                   (examples/recipes), requested in process as railsbench does; with new
                   sessions for two pages, with existing ones for the others
            puma   two of these pages over HTTP on loopback: requests a second, and the
                   slowest of a hundred and of a thousand

          The recipes are in SQLite for all, so that only the sessions differ. Each store
          runs in new processes, in several rounds of random order. Every answer is
          checked. One store, the A/A control, runs twice to show the noise. A store whose
          gem or server is missing has a row with the reason. A full run takes about half
          an hour.
        TEXT
        FOOTER = <<~TEXT
          SQL sessions use the gem activerecord-session_store: its model, and its
          SqlBypass, which is hand-written SQL as in the published comparison, each with
          MariaDB's query cache off and on.

          Examples:
            larder-lab sessions --quick
            larder-lab sessions --parts work --only larder,memcached,activerecord-mariadb
            larder-lab sessions --parts pages --requests 5000 --html sessions.html
            larder-lab sessions --memcached-url cache.example:11211 --json run.json
        TEXT

        # @return [Array<String>] names of parts; without the application, those that do without it
        def parts
          @given.fetch(:parts) { Pages.application? ? PARTS.keys : PARTS.keys - OF_APPLICATION }
        end

        # @return [String] the stores and the parts
        def list
          ["Session stores (--only, --except):", *listed(registry), "", "Parts (--parts):",
           *PARTS.map { |name, words| "  #{name.ljust(6)}  #{words}" }].join("\n")
        end

        private

        def registry
          Stores
        end

        def expiry
          "an hour"
        end

        # The same requests altogether, however many rounds there are.
        def settings
          rounds = much(:rounds)
          { seconds: much(:seconds), sessions: much(:sessions), parts: parts, connections: CONNECTIONS,
            requests: much(:requests).fdiv(rounds).ceil, served: much(:served).fdiv(rounds).ceil }
        end

        # Of all parts, for one row in one round.
        def process_seconds
          each = settings
          requests = { "pages" => Pages::ALL.size * each[:requests], "puma" => Pages::SERVED.size * each[:served] / 2 }
          [(1.2 + (4 * each[:seconds]) if parts.include?("work")), (BOOT if parts.intersect?(OF_APPLICATION)),
           *requests.slice(*parts).values.map { |count| count * PAGE }].compact.sum
        end

        def understood
          super
          return if list? || !parts.intersect?(OF_APPLICATION) || Pages.application?

          raise UsageError, "--parts #{parts.join(",")}: #{Pages::MISSING}"
        end

        def time_option(options)
          options.on("--seconds N", Float, "of each block of work (default #{DEFAULT[:seconds]})") do |n|
            @given[:seconds] = some("--seconds", n)
          end
          options.on("--sessions N", Integer, "loaded into each store first", amounts(:sessions)) do |n|
            raise UsageError, "--sessions must be #{LEAST} or more, not #{n}" if n < LEAST

            @given[:sessions] = n
          end
          options.on("--requests N", Integer, "of each page in process, over all rounds", amounts(:requests)) do |n|
            @given[:requests] = positive("--requests", n)
          end
          options.on("--served N", Integer, "of each page by way of Puma, over all rounds", amounts(:served)) do |n|
            @given[:served] = positive("--served", n)
          end
        end

        def amounts(name)
          usual, quick = [DEFAULT, QUICK].map { |mode| Reports::Figures.thousands(mode.fetch(name)) }
          "(default #{usual}, quick #{quick})"
        end

        def own_options(options)
          options.on("--parts A,B", Array, "these parts (default #{PARTS.keys.join(",")})") do |names|
            unknown = names - PARTS.keys
            raise UsageError, "unknown part #{unknown.first}; known: #{PARTS.keys.join(", ")}" if unknown.any?

            @given[:parts] = PARTS.keys & names
          end
        end
      end
    end
  end
end
