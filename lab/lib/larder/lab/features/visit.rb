# frozen_string_literal: true

# Runs the visit of one contender: which processes run one after the other, and what is done to the server in between.
# Answers are kept as they come, so none is lost if a process dies.

require "securerandom"
require_relative "../errors"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "../visits"
require_relative "../worker_process"
require_relative "questions"
require_relative "relay"
require_relative "restarts"

module Larder
  module Lab
    module Features
      # What was found out about one contender. state: :tested or :unavailable; reason: why it is not tested; answers:
      # "answer" and "note" by question; evidence: figures behind them; server: its command line.
      Row = Struct.new(:name, :state, :reason, :answers, :evidence, :server, keyword_init: true) do
        # @return [Boolean]
        def tested?
          state == :tested
        end

        # @param question [String]
        # @return [Object, nil]
        def answer(question)
          answers.dig(question, "answer")
        end

        # @param question [String]
        # @return [String, nil]
        def note(question)
          answers.dig(question, "note")
        end
      end

      # Visits one contender.
      class Visit
        SCRIPT = File.expand_path("worker.rb", __dir__)
        # Room of the store that is asked everything but what happens when it is full.
        ROOM = 64 * 1024 * 1024
        # Seconds that a process may take.
        PATIENCE = 180
        NOT_OURS = "not tested: the server is not the lab's own"
        KILLED = "in the next process after kill -9"
        PASSING = "at a URL of yours its place lasts no longer than a process; without the URL the lab starts a server"

        # @param name [String] of the contender
        # @param options [Options]
        # @param scratch [Scratch]
        def initialize(name, options, scratch)
          @type = Contenders.fetch(name)
          @options = options
          @scratch = scratch
          @row = Row.new(name: name, state: :tested, answers: {}, evidence: {})
        end

        # @return [Row]
        def run
          using("usual", ROOM) { |endpoint, server| ask_everything(endpoint, server) }
          using("full", @options.size) { |endpoint, server| fill(endpoint, server) } unless room_of_store?
          spread_over_two
          @row
        rescue Unavailable => error
          @row.state = :unavailable
          @row.reason = error.message
          @row
        end

        private

        def using(name, size)
          @size = size
          Visits.directory(@scratch, "#{@row.name}-#{name}") do |dir|
            @dir = dir
            Hosting.for(@type, dir, @options.urls, size: size) do |endpoint, server|
              @row.server ||= server&.recorded
              yield endpoint, server
            end
          end
        end

        def ask_everything(endpoint, server)
          raise Unavailable, PASSING if endpoint && server.nil? && solid_cache?

          @namespace = "larder-lab:#{SecureRandom.hex(4)}"
          part("first", endpoint, mark: "1", peers: @options.peers)
          raise Unavailable, @broken if @broken

          part("again", endpoint, mark: "2", wanted: "1", asks: "app_restart", die: true,
                                  how: "in the next process, after the first had ended")
          over_network(endpoint, server)
          after_kill(endpoint) unless @row.answer("remote") == true && server
          restart(endpoint, server)
          fill(server&.endpoint || endpoint, server, clear: true) if room_of_store? # it has another pid now
        end

        # As if the server were on another machine. What is read there has outlived the process that wrote it.
        def over_network(endpoint, server)
          return answer("remote", false, "it connects to nothing: its files are on this machine") unless endpoint
          return answer("remote", true, "at a URL of yours") unless server

          Relay.open(endpoint) do |host, port|
            part("reader", server.endpoint_at(host, port), mark: "3", wanted: "2", asks: "remote",
                                                           how: "a client read over TCP from #{host}")
          end
          answer("app_killed", true, KILLED) if @row.answer("remote") == true
        end

        def after_kill(endpoint)
          part("reader", endpoint, mark: "3", wanted: "2", asks: "app_killed", how: KILLED)
        end

        # Who outlives a kill has been stopped and started, too.
        def restart(endpoint, server)
          return no_restart(endpoint) unless server

          Restarts.by_killing(server)
          part("reader", endpoint, mark: "4", wanted: "3", asks: "server_killed", how: "after kill -9 of the server")
          killed = @row.answer("server_killed")
          return answer("server_restart", killed, "even after kill -9") if killed
          return answer("server_restart", nil, @row.note("server_killed")) if killed.nil?

          Restarts.gently(server)
          part("reader", endpoint, wanted: "4", asks: "server_restart", how: "after the server was stopped and started")
        rescue Unavailable => error
          %w[server_restart server_killed].each do |question|
            answer(question, nil, error.message) unless @row.answers.key?(question)
          end
        end

        def no_restart(endpoint)
          reply, note = endpoint ? [nil, NOT_OURS] : ["no server", nil]
          %w[server_restart server_killed].each { |question| answer(question, reply, note) }
        end

        def fill(endpoint, server, clear: false)
          return Questions::OF_FILLING.each { |each| answer(each, nil, NOT_OURS) } if endpoint && server.nil?

          @size = @options.size
          part("filler", endpoint, clear: clear, server_dir: server && "#{@dir}-server")
        end

        # Its limit is its own, not that of its server, which may be used again.
        def room_of_store?
          solid_cache? && !@type.server.nil?
        end

        def spread_over_two
          return answer("cluster", *without_server) if @type.server.nil? || solid_cache?
          return answer("cluster", nil, NOT_OURS) if @options.urls.key?(@type.server)

          using("spread", ROOM) { |endpoint, _| spread(endpoint) }
        end

        def spread(endpoint)
          Hosting.for(@type, "#{@dir}-2", @options.urls, size: ROOM) do |other, _|
            part("cluster", endpoint, asks: "cluster", urls: [endpoint, other].map { |each| each["url"] })
          end
        end

        def solid_cache?
          @row.name.start_with?("solid_cache")
        end

        def without_server
          return [false, "it has no server"] unless solid_cache?

          ["not tested", "it spreads over databases that database.yml lists; the lab sets up one"]
        end

        # One process. What it answered before it failed stays.
        def part(name, endpoint, **job)
          process(name, endpoint, job).run { |event| note(event) }
        rescue Invalid => error
          return if job[:die] && error.message.include?("signal #{Signal.list["KILL"]}")

          @broken = error.message if @row.answers.empty?
          answer(job[:asks], nil, error.message) if job[:asks] && !@row.answers.key?(job[:asks])
          @row.evidence["trouble"] = [*@row.evidence["trouble"], "#{name}: #{error.message}"]
        end

        def process(name, endpoint, job)
          log = File.join(@scratch.path, "#{@row.name}.log")
          job = { part: name, contender: @row.name, dir: @dir, endpoint: endpoint, size: @size, namespace: @namespace,
                  largest: @options.largest, small: @options.small,
                  requires: @options.requires, **job }
          WorkerProcess.new(job, dir: @dir, log: log, timeout: PATIENCE, script: SCRIPT,
                                 gemfile: Gemfiles.path(@type.bundle))
        end

        def note(event)
          case event["event"]
          when "answer" then answer(*event.values_at("question", "answer", "note"))
          when "evidence" then @row.evidence.merge!(event.except("event"))
          end
        end

        def answer(question, reply, note)
          @row.answers[question] = { "answer" => reply, "note" => note }
        end
      end
    end
  end
end
