# frozen_string_literal: true

# The process that runs the recipes application with one session store, and requests its pages in process, as
# railsbench did, and then through Puma. Started by Sessions::Rounds.

require_relative "../worker_process"
require_relative "pages"
require_relative "worker"

module Larder
  module Lab
    module Sessions
      # Measures pages.
      class PagesWorker < Worker
        # Requests that warm up code and caches, for each page.
        WARMING = 10
        # Requests that are made ready at a time, outside the clock.
        LAP = 50
        # Of Puma: as many as Rails configures.
        THREADS = 3
        HOST = "127.0.0.1"
        CLIENT = File.expand_path("client.rb", __dir__)
        # Seconds that the client may take.
        PATIENCE = 300
        # Each process's own, and the same for all session stores.
        CACHE = ["memory_store", { expires_in: 3600 }].freeze

        private

        def start
          ENV.update("RAILS_ENV" => "production", "RECIPES_STORAGE" => File.join(@job["dir"], "application"),
                     "RECIPES_DATABASE" => @job["database"], "RECIPES_CACHE_STORE" => JSON.generate(CACHE),
                     "RECIPES_SESSION_STORE" => JSON.generate([store.name, options]),
                     "RECIPES_REQUIRE" => store.definitions.join(File::PATH_SEPARATOR))
          require File.join(Pages::APPLICATION, "config/environment")
          store.ready
          @application = Rails.application
          @stack = Stack.new(@application.config.session_store, @application.config.session_options,
                             @application.env_config)
        end

        def measure
          @visitors = popular(signed_in: false)
          @turn = 0
          ask_pages if part?("pages")
          serve if part?("puma")
          # Nobody's session has gone meanwhile.
          sample(PROOFS).each do |number|
            demand(user(number), stack.visit(Stack::READ, cookies[number]).first, "session #{number}")
          end
        end

        def ask_pages
          shuffled(Pages::ALL).each { |page| emit("block", part: "pages", page: page.path, **block(page)) }
        end

        def part?(name)
          @job["parts"].include?(name)
        end

        # In another order each round, the same for all rows.
        def shuffled(pages)
          pages.shuffle(random: random)
        end

        def block(page)
          lap(page, WARMING)
          GC.start
          left = @job["requests"]
          seconds = 0.0
          while left.positive?
            seconds += lap(page, [left, LAP].min)
            left -= LAP
          end
          { calls: @job["requests"], seconds: seconds }
        end

        # Seconds that so many requests take.
        def lap(page, count)
          requests = Array.new(count) { Stack.request(page.path, cookie(page)) }
          answers = Array.new(count)
          started = now
          requests.each_with_index { |request, at| answers[at] = answer(request) }
          took = now - started
          requests.zip(answers) { |request, answer| check(page, request["HTTP_COOKIE"], answer) }
          took
        end

        def cookie(page)
          cookies[@visitors[(@turn += 1) % @visitors.size]] unless page.new
        end

        # The whole of it: what a server would send is asked for, and closed.
        def answer(request)
          response = @application.call(request)
          bytes = 0
          response[2].each { |part| bytes += part.bytesize }
          response[2].close if response[2].respond_to?(:close)
          [response, bytes]
        end

        # A user without a session got one, another one's went on.
        def check(page, brought, (response, bytes))
          raise Invalid, "#{page.path} answered #{response[0]}" unless response[0] == 200 && bytes.positive?

          given = Stack.cookie(response)
          raise Invalid, "#{page.path} began no session" if page.new && given.nil?
          return if page.new || given.nil? || given == brought || !store.keeps?

          raise Invalid, "#{page.path} did not find the session of a user who has one"
        end

        # The same application by way of Puma, and a process that asks it.
        def serve
          require "puma"
          require "puma/server"
          server = Puma::Server.new(@application, nil, { min_threads: THREADS, max_threads: THREADS,
                                                         log_writer: Puma::LogWriter.stdio })
          server.add_tcp_listener(HOST, 0)
          server.run
          client(server.connected_ports.first).run do |event|
            emit("block", part: "puma", **event.except("event").transform_keys(&:to_sym))
          end
        ensure
          server&.stop(true)
        end

        def client(port)
          served = shuffled(Pages::ALL.select { |page| Pages::SERVED.include?(page.path) })
          known = @visitors.map { |number| cookies[number] }
          pages = served.map { |page| { path: page.path, cookies: page.new ? [] : known } }
          job = { host: HOST, port: port, pages: pages, connections: @job["connections"], requests: @job["served"] }
          WorkerProcess.new(job, dir: Dir.pwd, log: File.join(@job["dir"], "client.log"), timeout: PATIENCE,
                                 script: CLIENT)
        end
      end
    end
  end
end

Larder::Lab::Sessions::PagesWorker.main if $PROGRAM_NAME == __FILE__
