# frozen_string_literal: true

# Runs the rounds of `larder-lab sessions`: in each every row has its turn, in a random order that can be repeated,
# each in fresh processes. Servers, and the loaded sessions, last as long as the rounds do.

require "securerandom"
require_relative "../loads/rounds"
require_relative "stores"

module Larder
  module Lab
    module Sessions
      # Runs a plan of which every part has a process of its own.
      class Rounds < Loads::Rounds
        # A process, and the parts that it measures.
        PROCESSES = { "work_worker.rb" => %w[work], "pages_worker.rb" => %w[pages puma] }.freeze

        private

        def rounds
          @hosts = {}
          @spaces = Hash.new { |spaces, row| spaces[row] = "larder-lab:#{SecureRandom.hex(4)}:" }
          super
        ensure
          @hosts.each_value { |host| host.stop if host.is_a?(Hosting) }
        end

        # One for all rounds: what was loaded stays there.
        def place(row)
          dir = File.join(@scratch.path, row.name.tr("^A-Za-z0-9_-", "-"))
          Dir.mkdir(dir, 0o700) unless File.directory?(dir)
          yield dir
        end

        def work(row, round, dir, &block)
          type = Stores.fetch(row.contender)
          host = host(type.server)
          row.server = host.server.recorded if host.server
          job = { store: row.contender, requires: @plan.requires, dir: dir, endpoint: host.endpoint,
                  space: @spaces[row.name], seed: @plan.seed + round, **@plan.settings,
                  database: File.join(@scratch.path, "recipes.sqlite3") }
          PROCESSES.each do |script, parts|
            host.attend { process(script, job, type).run(&block) } if parts.intersect?(job[:parts])
          end
        end

        def process(script, job, type)
          timeout = (@plan.seconds * TIMEOUT_FACTOR) + TIMEOUT_SECONDS
          WorkerProcess.new(job, dir: job[:dir], log: File.join(@scratch.path, "#{job[:store]}.log"), timeout: timeout,
                                 gemfile: Gemfiles.path(type.bundle), script: File.join(__dir__, script))
        end

        # A server for all rows that need it, or why there is none.
        def host(name)
          host = @hosts[name] ||= begin
            Hosting.new(name, File.join(@scratch.path, "#{name}-server"), @plan.urls)
          rescue Unavailable => error
            error
          end
          raise host if host.is_a?(Unavailable)

          host
        end
      end
    end
  end
end
