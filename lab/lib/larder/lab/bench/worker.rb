# frozen_string_literal: true

require "io/wait"
require "json"
require_relative "../child_process"
require_relative "../errors"
require_relative "../yjit"

module Larder
  module Lab
    module Bench
      # Holds the process of one contender in one session, {Service}: has it forked, asks it for turns, and ends it in
      # every case. Knows nothing of what the process measures.
      class Worker
        include ChildProcess

        # Seconds that it has for an answer.
        TIMEOUT = 120
        # How it ended, as {Preload} reports it.
        Status = Struct.new(:termsig) do
          def signaled? = termsig.positive?
        end
        private_constant :TIMEOUT, :Status

        # `job` is for {Service}, which works in its `dir` and prints into the file `log`. After `timeout` seconds
        # without an answer it counts as hung.
        def initialize(job, log:, preloader:, timeout: TIMEOUT)
          @log = log
          @preloader = preloader
          @timeout = timeout
          requests, @requests = IO.pipe
          @answers, answers = IO.pipe(Encoding::UTF_8)
          @fate, fate = IO.pipe
          preloader.hand_over(requests, answers, fate)
          [requests, answers, fate].each(&:close)
          tell(job.merge(log: log))
        end

        # Waits until it has opened its store and has proved it. Answers versions and options of the store. Raises
        # Unavailable if the contender cannot be had, and Invalid if it breaks the rules, dies, or is too late.
        def opened
          receive.tap do |answer|
            next if answer["yjit"] == Yjit.on?

            raise Invalid, "it ran with YJIT #{answer["yjit"] ? "on" : "off"}, unlike the others"
          end
        end

        # Asks for a public method of {Service}, with plain data. Waits for nothing.
        def request(request, *arguments) = tell(do: request, arguments: arguments)

        # Waits for the answer to a request.
        def answer = receive

        # Ends the process, by force if it does not leave.
        def stop
          return if @requests.closed?

          @requests.close
          end_process if pid
        ensure
          [@answers, @fate].each(&:close)
        end

        private

        def tell(message)
          @requests.puts(JSON.generate(message))
        rescue Errno::EPIPE
          nil # it died before it could read; the next answer says so
        end

        def receive
          answer = JSON.parse(line)
          raise Unavailable, answer["unavailable"] if answer["unavailable"]
          raise Invalid, answer["invalid"] if answer["invalid"]

          answer
        end

        # A process that has not answered is killed: what it still does would disturb the others. One that dies while it
        # answers leaves a part of a line.
        def line
          unless @answers.wait_readable(@timeout)
            kill if pid
            raise Invalid, "it did not answer within #{@timeout} s"
          end
          line = @answers.gets
          line&.end_with?("\n") ? line : raise(Invalid, "its process #{pid ? cause_of_death : @preloader.cause}")
        end

        # nil if it was not forked
        def pid
          @pid ||= @fate.wait_readable(PATIENCE) && @fate.gets&.to_i
        end

        def reap
          return @status if @status || !pid || !@fate.wait_readable(PATIENCE)

          @status = Status.new(@fate.gets.to_i)
        end
      end
    end
  end
end
