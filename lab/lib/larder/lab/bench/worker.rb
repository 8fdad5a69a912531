# frozen_string_literal: true

# Holds the process of one contender in one session: starts it, asks it for turns, and ends it in every case. Knows
# nothing of what the process measures.

require "json"
require "rbconfig"
require_relative "../child_process"
require_relative "../errors"
require_relative "../worker_process"
require_relative "../yjit"

module Larder
  module Lab
    module Bench
      # A process that takes turns when it is asked to; {Service} is its other side.
      class Worker
        include ChildProcess

        SCRIPT = File.expand_path("serve.rb", __dir__)
        LIBRARY = File.expand_path("../../..", __dir__)
        # Seconds that it has for an answer.
        TIMEOUT = 120
        private_constant :SCRIPT, :LIBRARY, :TIMEOUT

        # @param job [Hash] for {Service}; works in its `dir`
        # @param log [String] file for everything the process prints
        # @param gemfile [String, nil] the Gemfile of its gems; nil: that of this process
        # @param timeout [Numeric] seconds without an answer after which it counts as hung
        def initialize(job, log:, gemfile: nil, timeout: TIMEOUT)
          @log = log
          @yjit = Yjit.on? && job.fetch(:yjit, true)
          @timeout = timeout
          requests, @requests = IO.pipe
          @answers, answers = IO.pipe
          environment = { **WorkerProcess::WARM_HEAP, **({ "BUNDLE_GEMFILE" => gemfile } if gemfile).to_h }
          @pid = Process.spawn(environment, RbConfig.ruby, "-I", LIBRARY, SCRIPT,
                               in: requests, out: answers, err: [log, "a"], chdir: job.fetch(:dir), pgroup: true)
          [requests, answers].each(&:close)
          tell(job)
        end

        # Waits until it has opened its store and has proved it.
        # @return [Hash{String=>Object}] versions and options of the store
        # @raise [Unavailable] if the contender cannot be had
        # @raise [Invalid] if it broke the rules, died, or did not answer in time
        def opened
          answer = receive
          return answer if answer["yjit"] == @yjit

          raise Invalid, "it ran with YJIT #{answer["yjit"] ? "on" : "off"}, unlike the others of its kind"
        end

        # @param request [Symbol] a public method of {Service}
        # @param arguments [Array<Object>] plain data
        # @return [void]
        def request(request, *arguments)
          tell(do: request, arguments: arguments)
        end

        # Waits for the answer to a request.
        # @return [Hash{String=>Object}]
        # @raise [Invalid] as {#opened}
        def answer
          receive
        end

        # Ends the process, by force if it does not leave.
        # @return [void]
        def stop
          return unless @pid

          @requests.close
          end_process
          @pid = nil
        ensure
          @answers.close
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

        def line
          line_from(@answers, @timeout, "it did not answer within #{@timeout} s") ||
            raise(Invalid, "its process #{cause_of_death}")
        end
      end
    end
  end
end
