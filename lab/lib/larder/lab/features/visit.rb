# frozen_string_literal: true

# Visits one contender: which processes ask it one after the other, and what is done to its server in between. Answers
# are kept as they come, so none is lost if a process dies.

require "securerandom"
require_relative "../clock"
require_relative "../errors"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "../proxy"
require_relative "../visits"
require_relative "../worker_process"
require_relative "probes"

module Larder
  module Lab
    module Features
      # What was found out about one contender. reason: why it was not tested (nil: it was); answers: "answer" and
      # "note" by question; evidence: figures behind them; server: its command line.
      Row = Struct.new(:name, :reason, :answers, :evidence, :server, keyword_init: true) do
        # @param question [String]
        # @return [Object] the answer; "unknown" if none came, "not tested" if none was tried
        def answer(question)
          answers.fetch(question, { "answer" => "unknown" })["answer"]
        end

        # @param question [String]
        # @return [String, nil] what was seen, or why there is no answer
        def note(question)
          answers.fetch(question, { "note" => "no answer came" })["note"]
        end
      end

      # One contender.
      class Visit
        include Clock

        SCRIPT = File.expand_path("worker.rb", __dir__)
        # Room of the store that is asked everything but what happens when it is full.
        ROOM = 64 * 1024 * 1024
        # Seconds that a process may take, and a server to end.
        PATIENCE = 180
        ENDING = 15
        NOT_OURS = ["not tested", "the server is not the lab's own"].freeze
        KILLED = "in the next process after kill -9"
        PASSING = "at a URL of yours its place lasts no longer than a process; without the URL the lab starts a server"

        # @param name [String] of the contender
        # @param options [Commands::FeaturesOptions]
        # @param scratch [Scratch]
        def initialize(name, options, scratch)
          @type = Contenders.fetch(name)
          @options = options
          @scratch = scratch
          @row = Row.new(name: name, answers: {}, evidence: {})
          @solid = name.start_with?("solid_cache")
          @namespace = "larder-lab:#{SecureRandom.hex(4)}"
        end

        # @return [Row]
        def run
          using("usual", ROOM) { |endpoint, server| ask_everything(endpoint, server) }
          using("full", @options.size) { |endpoint, server| fill(endpoint, server) } unless fills_its_server?
          spread_over_two
          @row
        rescue Unavailable => error
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
          raise Unavailable, PASSING if endpoint && server.nil? && @solid

          part(endpoint, probes: Probes.of(:first) + Probes.of(:last), peers: @options.peers, mark: "1")
          raise Unavailable, @broken if @broken

          part(endpoint, probes: Probes.of(:again), counting: true, asks: "app_restart", wanted: "1", mark: "2",
                         how: "in the next process, after the first had ended", die: true)
          over_network(endpoint, server)
          part(endpoint, asks: "app_killed", wanted: "2", mark: "3", how: KILLED) unless @row.answers["app_killed"]
          restart(endpoint, server)
          fill(server&.endpoint || endpoint, server, clear: true) if fills_its_server? # it has another pid now
        end

        # As if the server were on another machine. A value that is read there has outlived the process that wrote it.
        def over_network(endpoint, server)
          return answer("remote", false, "it connects to nothing: its files are on this machine") unless endpoint
          return answer("remote", true, "at a URL of yours") unless server

          proxy = Proxy.new(Proxy.target(endpoint), wires: [Proxy::Wire.new(rtt: 0)], log: "#{@dir}-proxy.log").start
          part(server.endpoint_at(Proxy::HOST, proxy.addresses.first), asks: "remote", wanted: "2", mark: "3",
                                                                       how: "a client read by host and port")
          answer("app_killed", true, KILLED) if @row.answer("remote") == true
        ensure
          proxy&.stop
        end

        # A store that outlives a kill outlives a restart, too.
        def restart(endpoint, server)
          questions = %w[server_killed server_restart]
          unless server
            return questions.each { |question| answer(question, *(endpoint ? NOT_OURS : ["no server", nil])) }
          end

          questions.zip([:KILL, :TERM], %w[3 4], ["after kill -9 of the server", "after its stop and start"])
                   .each do |question, signal, wanted, how|
            next answer(question, true, "even after kill -9") if @row.answers["server_killed"]&.fetch("answer") == true

            restart_server(server, signal)
            part(endpoint, asks: question, wanted: wanted, mark: "4", how: how)
          end
        rescue Unavailable => error
          questions.each { |question| answer(question, "unknown", error.message) unless @row.answers.key?(question) }
        end

        def restart_server(server, signal)
          pid = server.pid
          Process.kill(signal, pid)
          limit = now + ENDING
          sleep 0.01 while now < limit && File.exist?("/proc/#{pid}")
          raise Unavailable, "the server does not end within #{ENDING} s of SIG#{signal}" if File.exist?("/proc/#{pid}")

          server.stop
          server.start
        end

        def fill(endpoint, server, clear: false)
          return Probes.of(:full).each { |question| answer(question, *NOT_OURS) } if endpoint && server.nil?

          @size = @options.size
          part(endpoint, probes: Probes.of(:full), clear: clear, server_dir: server && "#{@dir}-server")
        end

        # Its limit is its own, not that of its server, which may be used again.
        def fills_its_server?
          @solid && @type.server
        end

        def spread_over_two
          return answer("cluster", "not tested", "it spreads over databases of database.yml; the lab has one") if @solid
          return answer("cluster", false, "it has no server") unless @type.server
          return answer("cluster", *NOT_OURS) if @options.urls.key?(@type.server)

          using("spread", ROOM) do |endpoint, _|
            Hosting.for(@type, "#{@dir}-2", @options.urls, size: ROOM) do |other, _|
              part(endpoint, probes: Probes.of(:cluster), urls: [endpoint, other].map { |each| each["url"] })
            end
          end
        end

        # One process. What it answered before it failed stays.
        def part(endpoint, probes: [], asks: nil, **job)
          process(endpoint, { probes: probes, asks: asks, **job }).run { |event| take(event) }
        rescue Invalid => error
          return if job[:die] && error.message.include?("signal #{Signal.list["KILL"]}")

          @broken = error.message if @row.answers.empty?
          answer(asks, "unknown", error.message) if asks && !@row.answers.key?(asks)
          @row.evidence["trouble"] = [*@row.evidence["trouble"], "#{asks || probes.first}: #{error.message}"]
        end

        def process(endpoint, job)
          job = { contender: @row.name, dir: @dir, endpoint: endpoint, size: @size, namespace: @namespace,
                  requires: @options.requires, **@options.amounts, **job }
          WorkerProcess.new(job, dir: @dir, log: File.join(@scratch.path, "#{@row.name}.log"), timeout: PATIENCE,
                                 script: SCRIPT, gemfile: Gemfiles.path(@type.bundle))
        end

        def take(event)
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
