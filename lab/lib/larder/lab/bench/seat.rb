# frozen_string_literal: true

# A row's place in a session: its server, directory and process, for as long as the session lasts.

require "fileutils"
require_relative "../contenders"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "worker"

module Larder
  module Lab
    module Bench
      # Starts what a row needs, and stops it.
      class Seat
        # @return [String] name of the contender
        attr_reader :row
        # @return [Integer] 0, or 1 for the twin
        attr_reader :copy

        # @param row [String] name of a contender
        # @param copy [Integer]
        # @param plan [Plan]
        # @param dir [String] does not exist yet
        # @raise [Unavailable] if its server or its gems cannot be had
        def initialize(row, copy, plan:, dir:)
          @row = row
          @copy = copy
          type = Contenders.fetch(row)
          Dir.mkdir(dir, 0o700)
          @hosting = Hosting.new(type.server, "#{dir}-server", plan.urls, size: plan.size)
          @worker = Worker.new(job(plan, dir), log: "#{dir}.log", gemfile: Gemfiles.path(type.bundle))
        rescue StandardError
          @hosting&.stop
          raise
        end

        # @return [Boolean] whether all processes of a machine see the same entries
        def shared?
          Contenders.fetch(row).shared?
        end

        # @return [Hash{String=>Object}] versions, options and server of the store
        # @raise [Unavailable, Invalid] see {Worker#opened}
        def opened
          attend { @worker.opened.merge("server" => @hosting.server&.recorded) }
        end

        # @return [Hash{String=>Object}] see {Service}
        # @raise [Invalid] if process or server failed
        def ask(...)
          attend { @worker.ask(...) }
        end

        # Stops all of it.
        # @return [void]
        def leave
          @worker.stop
        ensure
          @hosting.stop
        end

        private

        # A store without its server says many things; the death of the server is the reason then.
        def attend(&block)
          @hosting.attend(&block)
        end

        # In a server of the user's, which several rows may use at once.
        def place(plan)
          plan.rows.index(row) * Conductor::COPIES + copy
        end

        def job(plan, dir)
          cold = shared? ? plan.cold_blocks.map(&:key) : []
          { contender: row, dir: dir, endpoint: @hosting.endpoint&.merge("place" => place(plan)), size: plan.size,
            suite: plan.suite.key, cold: cold, requires: plan.requires }
        end
      end
    end
  end
end
