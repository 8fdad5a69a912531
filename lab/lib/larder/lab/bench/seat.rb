# frozen_string_literal: true

require "fileutils"
require_relative "../contenders"
require_relative "../hosting"
require_relative "preloader"
require_relative "reference_loop"
require_relative "worker"

module Larder
  module Lab
    module Bench
      # A row's place in a session: its server, directory and process, for as long as the session lasts. The reference
      # loop has seats, too.
      class Seat
        # row: the name of the contender, or {ReferenceLoop::KEY}; copy: 0, or 1 for the twin.
        attr_reader :row, :copy

        # `dir` does not exist yet; `preloaders` are those of the session, and `files` those of the run. Its store keeps
        # `proofs` values before it is measured. The server that all rows use listens at `companion`. Raises Unavailable
        # if its server or its gems cannot be had.
        def initialize(row, copy, plan:, dir:, preloaders:, files:, proofs: plan.suite.proofs, companion: nil)
          @row = row
          @copy = copy
          @companion = companion
          Dir.mkdir(dir, 0o700)
          @registry = plan.suite.registry
          preloader = preloaders.for(type, Gemfiles.of(plan.suite, type))
          @hosting = Hosting.new(type.server, "#{dir}-server", plan.urls, size: plan.size, files: files)
          @worker = Worker.new(job(plan, dir, proofs), log: "#{dir}.log", preloader: preloader)
        rescue StandardError
          @hosting&.stop
          raise
        end

        # True if this is the reference loop, which is in no table.
        def reference? = row == ReferenceLoop::KEY

        def shared? = type.shared?

        # The versions, options and server of the store, see {Worker#opened}.
        def opened = @hosting.attend { @worker.opened.merge("server" => @hosting.server&.recorded) }

        # Bytes of memory of its server; nil without one of the lab's.
        def server_bytes = @hosting.server&.memory_bytes

        # Asks without waiting; {#answer} waits.
        def request(...) = @worker.request(...)

        # The answer of the {Service}. Raises Invalid if process or server failed.
        def answer = @hosting.attend { @worker.answer }

        def ask(...)
          request(...)
          answer
        end

        # Stops all of it.
        def leave
          @worker.stop
        ensure
          @hosting.stop
        end

        private

        def type = reference? ? Contenders.fetch(ReferenceLoop::CONTENDER) : @registry.fetch(row)

        # In a server of the user's, which several rows may use at once.
        def place(plan) = plan.rows.index(row) * Suite::COPIES + copy

        def job(plan, dir, proofs)
          cold = plan.blocks.select { |block| block.cold && (shared? || block.anywhere) }.map(&:key)
          endpoint = @hosting.endpoint&.merge("place" => place(plan), "dir" => "#{dir}-server")
          { contender: type.key, dir: dir, endpoint: endpoint, size: plan.size,
            suite: reference? ? ReferenceLoop::KEY : plan.suite.key, cold: cold,
            requires: plan.requires, proofs: proofs, companion: (@companion unless reference?) }
        end
      end
    end
  end
end
