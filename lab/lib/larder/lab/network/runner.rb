# frozen_string_literal: true

# Runs the rounds of `larder-lab network`: each measures every row once, in a random order that can be repeated, each
# in a fresh process. Servers, and a proxy before each, run for as long as the rounds do.

require_relative "../clock"
require_relative "../endpoint"
require_relative "../environment"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "../proxy"
require_relative "../scratch"
require_relative "../worker_process"
require_relative "floor"
require_relative "results"

module Larder
  module Lab
    module Network
      # Runs a plan.
      class Runner
        include Clock

        SCRIPT = File.expand_path("worker.rb", __dir__)
        TIMEOUT_SECONDS = 300
        # Seconds that a process needs before it measures, and a block beside what it was told; for the time left.
        BOOT = 1.2
        BLOCK = 0.02

        # @param plan [Plan]
        # @param progress [Progress]
        def initialize(plan, progress:)
          @plan = plan
          @progress = progress
          @hosts = {}
        end

        # @return [Results]
        def run
          Scratch.open(@plan.directory) do |scratch|
            @scratch = scratch
            @results = Results.new(@plan, Environment.facts(scratch.path))
            @results.floor = Floor.new(@plan.rtts, scratch.path).samples if @plan.rows.any?(&:server)
            rounds
          ensure
            @hosts.each_value { |host| host.stop if host.is_a?(Host) }
          end
          @results
        ensure
          @progress.finish
        end

        # A server and the proxy before it.
        Host = Struct.new(:hosting, :proxy, :plan) do
          # @param point [Point]
          # @return [Hash{String=>Object}] the server by way of the wire that is like that, see {Endpoint}
          def endpoint(point)
            port = proxy.addresses[plan.wires.index(point)]
            return hosting.server.endpoint_at(Proxy::HOST, port) if hosting.server

            Endpoint.by_way_of(hosting.endpoint, Proxy::HOST, port)
          end

          # @return [void]
          def stop
            proxy&.stop
            hosting.stop
          end
        end

        private

        def rounds
          random = Random.new(@plan.seed)
          seconds = @plan.rows.sum { |row| expected(row) } * @plan.rounds
          @progress.start("measuring", @plan.rows.size * @plan.rounds, seconds: seconds, nouns: %w[visit visits])
          (1..@plan.rounds).each do |round|
            @plan.rows.shuffle(random: random).each { |row| visit(row, round) }
          end
        end

        # Seconds of one process.
        def expected(row)
          blocks = row.points.size * row.payloads.size * 2
          (BOOT * row.processes.size) + (blocks * (@plan.seconds + BLOCK))
        end

        def visit(row, round)
          @progress.step("round #{round}/#{@plan.rounds}: #{row.name}", seconds: expected(row))
          return if @results.reason(row)

          row.processes.each { |points| @scratch.directory { |dir| work(row, points, round, dir) } }
        rescue Unavailable, Invalid, SystemCallError => error
          @results.reject(row, complete(row, error))
          kind = error.is_a?(Invalid) ? "invalid" : "not measured"
          @progress.note("#{row.name}: #{kind}: #{@results.reason(row).message}")
        end

        def work(row, points, round, dir)
          points = points.map { |point| { **point.to_h, endpoint: endpoint(row, point) } }
          job = { contender: row.contender, codec: row.codec, payloads: row.payloads, source: @plan.source, dir: dir,
                  points: points, endpoint: points.first[:endpoint], threads: 1, requires: @plan.requires,
                  seconds: @plan.seconds, calls: @plan.calls }
          log = File.join(@scratch.path, "#{row.name.tr("^A-Za-z0-9_.-", "-")}.log")
          process = WorkerProcess.new(job, dir: dir, log: log, timeout: TIMEOUT_SECONDS, script: SCRIPT,
                                           gemfile: Gemfiles.path(row.bundle))
          attend(row) { process.run { |event| @results.add(row, round, event) } }
        end

        # A server that ends meanwhile is reported as such.
        def attend(row, &work)
          row.server ? @hosts[row.server].hosting.attend(&work) : yield
        end

        def endpoint(row, point)
          return unless row.server

          host = @hosts[row.server] ||= host(row.server)
          raise host if host.is_a?(Unavailable)

          host.endpoint(point)
        end

        # A server with a proxy, or why there is none.
        def host(name)
          hosting = Hosting.new(name, File.join(@scratch.path, "#{name}-server"), @plan.urls)
          host = Host.new(hosting, nil, @plan)
          wires = @plan.wires.map { |point| Proxy::Wire.new(rtt: point.rtt, bandwidth: point.bandwidth) }
          host.proxy = Proxy.new(Proxy.target(hosting.endpoint), wires: wires,
                                 log: File.join(@scratch.path, "#{name}-proxy.log")).start
          @results.versions[name] = hosting.server.class.version if hosting.server
          host
        rescue Unavailable => error
          host&.stop
          error
        end

        # What a client says of a lost connection, and what the proxy knows of it.
        def complete(row, error)
          host = @hosts[row.server]
          complaint = host.proxy.complaint if host.is_a?(Host)
          complaint ? error.class.new("#{error.message} (#{complaint})") : error
        end
      end
    end
  end
end
