# frozen_string_literal: true

# Visits one contender: which processes ask it one after the other, and what is done to its server in between. Answers
# are kept as they come, so none is lost if a process dies.

require "fileutils"
require "securerandom"
require_relative "../clock"
require_relative "../errors"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "../proxy"
require_relative "asking"
require_relative "probes"

module Larder
  module Lab
    module Features
      # Answers of one contender. reason: why it was not tested (nil: it was); answers: "answer" and "note" by question;
      # trouble: failed processes; server: its command line.
      Row = Struct.new(:name, :reason, :answers, :trouble, :server, keyword_init: true) do
        # @return [Object] the answer; "unknown" if none came, "not tested" if none was tried
        def answer(question) = answers.dig(question, "answer").then { |answer| answer.nil? ? "unknown" : answer }

        # @return [String, nil] what was seen, or why there is no answer
        def note(question) = answers.key?(question) ? answers[question]["note"] : "no answer came"
      end

      # One contender.
      class Visit
        include Clock

        # Room of the store that is asked everything but what happens when it is full, and of the one that is filled.
        ROOM = 64 << 20
        FULL = 8 << 20
        # Seconds that a server may take to end.
        ENDING = 15
        # Question => signal, mark that is looked for, and what is done to a server.
        RESTARTS = { "server_killed" => [:KILL, "3", "after kill -9 of the server"],
                     "server_restart" => [:TERM, "4", "after its stop and start"] }.freeze
        NOT_OURS = ["not tested", "the server is not the lab's own"].freeze
        PASSING = "at a URL of yours its place lasts no longer than a process; without the URL the lab starts a server"

        # @param name [String] of the contender
        def initialize(name, options, scratch)
          @type = Contenders.fetch(name)
          @options = options
          @scratch = scratch
          @row = Row.new(name: name, answers: {}, trouble: [])
          @solid = name.start_with?("solid_cache")
          @namespace = "larder-lab:#{SecureRandom.hex(4)}"
        end

        # @return [Row]
        def run
          using("usual", ROOM) { |endpoint, server| ask_everything(endpoint, server) }
          using("full", FULL) { |endpoint, server| fill(endpoint, server) } unless fills_its_server?
          spread_over_two
          @row
        rescue Unavailable => error
          @row.tap { |row| row.reason = error.message }
        end

        private

        def using(name, size)
          @size = size
          @dir = File.join(@scratch.path, "#{@row.name}-#{name}")
          Dir.mkdir(@dir, 0o700)
          Hosting.for(@type, @dir, @options.urls, size: size) do |endpoint, server|
            @row.server ||= server&.recorded
            yield endpoint, server
          end
        ensure
          FileUtils.rm_rf(@dir)
        end

        def ask_everything(endpoint, server)
          raise Unavailable, PASSING if endpoint && server.nil? && @solid

          part(endpoint, probes: Probes.of(:first) + Probes.of(:last), mark: "1")
          raise Unavailable, @row.trouble.first if @row.answers.empty?

          part(endpoint, probes: Probes.of(:again), counting: true, asks: "app_restart", wanted: "1", mark: "2",
                         how: "in the next process, after the first had ended", die: true)
          over_network(endpoint, server)
          unless @row.answers["app_killed"]
            part(endpoint, asks: "app_killed", wanted: "2", mark: "3", how: "in the next process after kill -9")
          end
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
          answer("app_killed", true, "in another process after kill -9") if @row.answer("remote") == true
        ensure
          proxy&.stop
        end

        # A store that outlives a kill outlives a restart, too.
        def restart(endpoint, server)
          return RESTARTS.each_key { |key| answer(key, *(endpoint ? NOT_OURS : "no server")) } unless server

          RESTARTS.each do |key, (signal, wanted, how)|
            next answer(key, true, "even after kill -9") if @row.answer("server_killed") == true

            restart_server(server, signal)
            part(endpoint, asks: key, wanted: wanted, mark: "4", how: how)
          end
        rescue Unavailable => error
          (RESTARTS.keys - @row.answers.keys).each { |key| answer(key, "unknown", error.message) }
        end

        def restart_server(server, signal)
          process = "/proc/#{server.pid}"
          Process.kill(signal, server.pid)
          limit = now + ENDING
          sleep 0.01 while now < limit && File.exist?(process)
          raise Unavailable, "the server does not end within #{ENDING} s of SIG#{signal}" if File.exist?(process)

          server.stop
          server.start
        end

        def fill(endpoint, server, clear: false)
          return Probes.of(:full).each { |question| answer(question, *NOT_OURS) } if endpoint && server.nil?

          @size = FULL
          part(endpoint, probes: Probes.of(:full), clear: clear, server_dir: server && "#{@dir}-server")
        end

        # Its limit is its own, not that of its server, which may be used again.
        def fills_its_server? = @solid && @type.server

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
          job = { contender: @row.name, dir: @dir, endpoint: endpoint, size: @size, namespace: @namespace,
                  probes: probes, asks: asks, requires: @options.requires, seed: @options.seed, **job }
          Asking.new(job, log: File.join(@scratch.path, "#{@row.name}.log"), gemfile: Gemfiles.path(@type.bundle))
                .run { |question, *found| answer(question, *found) }
        rescue Invalid => error
          return if job[:die] && error.message.include?("signal #{Signal.list["KILL"]}")

          answer(asks, "unknown", error.message) if asks && !@row.answers.key?(asks)
          @row.trouble << error.message
        end

        def answer(question, reply, note = nil)
          @row.answers[question] = { "answer" => reply, "note" => note }
        end
      end
    end
  end
end
