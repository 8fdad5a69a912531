# frozen_string_literal: true

require "io/wait"
require "json"
require_relative "../contenders"
require_relative "../errors"
require_relative "../hosting"
require_relative "callers"
require_relative "preloader"
require_relative "reference_loop"

module Larder
  module Lab
    module Bench
      # A row's place in a session: its server, directory and process, which is a {Service}, for as long as the session
      # lasts. The reference loop has seats, too.
      class Seat
        include ChildProcess

        # Seconds that the process has for an answer.
        TIMEOUT = 120

        # row: the name of the contender, or {ReferenceLoop::KEY}; copy: 0, or 1 for the twin.
        attr_reader :row, :copy
        # Bytes of memory of its server before anything is stored; nil without one of the lab's.
        attr_reader :first_server_bytes

        # `dir` does not exist yet; `preloaders` are those of the session, and `files` those of the run. Its store keeps
        # `proofs` values before it is measured. The server that all rows use listens at `companion`. After `timeout`
        # seconds without an answer the process counts as hung. Raises Unavailable if its server or its gems cannot be
        # had.
        def initialize(row, copy, plan:, dir:, preloaders:, files:, proofs: plan.suite.proofs, companion: nil,
                       timeout: TIMEOUT)
          @row = row
          @copy = copy
          @timeout = timeout
          @registry = plan.suite.registry
          @log = "#{dir}.log"
          Dir.mkdir(dir, 0o700)
          @preloader = preloaders.for(type, Gemfiles.of(plan.suite, type))
          @hosting = Hosting.new(type.server, "#{dir}-server", plan.urls, size: plan.size, files: files)
          connect
          @job = { **job(plan, dir), proofs: proofs, companion: (companion unless reference?) }
        rescue StandardError
          @hosting&.stop
          raise
        end

        # True if this is the reference loop, which is in no table.
        def reference? = row == ReferenceLoop::KEY

        def shared? = type.shared?

        # Has the process open its store. Called when all servers run, as each weighs less then: they share pages.
        def start
          @first_server_bytes = server_bytes
          tell(**@job)
        end

        # Waits until the store is open and has been proved. Answers its versions, options and server. Raises
        # Unavailable if the contender cannot be had, and Invalid if it breaks the rules, dies, or is too late.
        def opened = answer.merge("server" => @hosting.server&.recorded)

        # Bytes of memory of its server; nil without one of the lab's.
        def server_bytes = Footprint.memory(@hosting.server&.pid)

        # Asks for a public method of {Service}, with plain data. Waits for nothing.
        def request(name, *arguments) = tell(do: name, arguments: arguments)

        # Waits for the answer to a request. Raises Invalid if process or server failed.
        def answer = @hosting.attend { Callers.settled(JSON.parse(line)) }

        def ask(...)
          request(...)
          answer
        end

        # Stops all of it, the process by force if it does not leave.
        def leave
          @requests.close
          end_process if pid
        ensure
          [@answers, @fate].each(&:close)
          @hosting.stop
        end

        private

        def type = reference? ? Contenders.fetch(ReferenceLoop::CONTENDER) : @registry.fetch(row)

        # Has the process forked.
        def connect
          requests, @requests = IO.pipe
          @answers, answers = IO.pipe(Encoding::UTF_8)
          @fate, fate = IO.pipe
          @preloader.hand_over(requests, answers, fate)
          [requests, answers, fate].each(&:close)
        end

        def job(plan, dir)
          cold = plan.blocks.select { |block| block.cold && (shared? || block.anywhere) }.map(&:key)
          # The place is that in a server of the user's, which several rows may use at once.
          endpoint = @hosting.endpoint&.merge("place" => (plan.rows.index(row) * Suite::COPIES) + copy,
                                              "dir" => "#{dir}-server")
          { contender: type.key, dir: dir, log: @log, endpoint: endpoint, size: plan.size, cold: cold,
            suite: reference? ? ReferenceLoop::KEY : plan.suite.key, requires: plan.requires }
        end

        def tell(**message)
          @requests.puts(JSON.generate(message))
        rescue Errno::EPIPE
          nil # it died before it could read; the next answer says so
        end

        # A process that has not answered is killed: what it still does would disturb the others. One that dies while it
        # answers leaves a part of a line.
        def line
          unless @answers.wait_readable(@timeout)
            kill if pid
            raise Invalid, "it did not answer within #{@timeout} s"
          end
          line = @answers.gets
          return line if line&.end_with?("\n")

          raise Invalid, "its process #{pid ? cause_of_death : @preloader.cause}"
        end

        # nil if it was not forked
        def pid
          @pid ||= @fate.wait_readable(PATIENCE) && @fate.gets&.to_i
        end

        def reap
          @signal ||= @fate.gets.to_i if pid && @fate.wait_readable(PATIENCE)
        end
      end
    end
  end
end
