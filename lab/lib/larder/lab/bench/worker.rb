# frozen_string_literal: true

# Holds the process of one contender in one session: starts it, asks it for turns, and ends it in every case. Knows
# nothing of what the process measures.

require "json"
require "rbconfig"
require_relative "../clock"
require_relative "../errors"
require_relative "../worker_process"
require_relative "../yjit"

module Larder
  module Lab
    module Bench
      # A process that takes turns when it is asked to; {Service} is its other side.
      class Worker
        include Clock

        SCRIPT = File.expand_path("serve.rb", __dir__)
        LIBRARY = File.expand_path("../../..", __dir__)
        # Seconds that a process has for leaving.
        PATIENCE = 5
        # Seconds that it has for an answer.
        TIMEOUT = 120
        private_constant :SCRIPT, :LIBRARY, :PATIENCE, :TIMEOUT

        # @param job [Hash] for {Service}; works in its `dir`
        # @param log [String] file for everything the process prints
        # @param gemfile [String, nil] the Gemfile of its gems; nil: that of this process
        # @param timeout [Numeric] seconds without an answer after which it counts as hung
        def initialize(job, log:, gemfile: nil, timeout: TIMEOUT)
          @log = log
          @timeout = timeout
          requests, @requests = IO.pipe
          @answers, answers = IO.pipe
          environment = { **WorkerProcess::WARM_HEAP, **({ "BUNDLE_GEMFILE" => gemfile } if gemfile).to_h }
          @pid = Process.spawn(environment, RbConfig.ruby, "-I", LIBRARY, SCRIPT,
                               in: requests, out: answers, err: [log, "a"], chdir: job.fetch(:dir), pgroup: true)
          [requests, answers].each(&:close)
          @buffer = +""
          tell(job)
        end

        # Waits until it has opened its store and has proved it.
        # @return [Hash{String=>Object}] versions and options of the store
        # @raise [Unavailable] if the contender cannot be had
        # @raise [Invalid] if it broke the rules, died, or did not answer in time
        def opened
          answer = receive
          return answer if answer["yjit"] == Yjit.on?

          raise Invalid, "it ran with YJIT #{answer["yjit"] ? "on" : "off"}, unlike the lab"
        end

        # @param request [Symbol] a public method of {Service}
        # @param arguments [Array<Object>] plain data
        # @return [Hash{String=>Object}]
        # @raise [Invalid] as {#opened}
        def ask(request, *arguments)
          tell(do: request, arguments: arguments)
          receive
        end

        # Ends the process, by force if it does not leave.
        # @return [void]
        def stop
          return unless @pid

          @requests.close
          unless reap(PATIENCE)
            Process.kill(:KILL, @pid)
            reap(PATIENCE)
          end
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
          deadline = now + @timeout
          until (line = @buffer.slice!(/\A.*\n/))
            left = deadline - now
            raise Invalid, "it did not answer within #{@timeout} s" if left <= 0 || !@answers.wait_readable(left)

            chunk = @answers.read_nonblock(65_536, exception: false)
            raise Invalid, "its process #{cause_of_death}" if chunk.nil?

            @buffer << chunk unless chunk == :wait_readable
          end
          line
        end

        def cause_of_death
          status = reap(PATIENCE)
          how = status&.signaled? ? "was killed by signal #{status.termsig}" : "ended early"
          [how, last_words].compact.join(": ")
        end

        # The first line that it printed, without the place in the source.
        def last_words
          lines = File.read(@log, encoding: "UTF-8").scrub.lines.map do |line|
            line.strip.sub(/\A\S+:\d+:in [`'].*?': */, "")
          end
          lines.find { |line| line.match?(/\w/) && !line.match?(/\A\([\w:]+\)\z/) }
        rescue Errno::ENOENT
          nil
        end

        # @return [Process::Status, nil] nil if it still runs after so many seconds
        def reap(seconds)
          limit = now + seconds
          until @status
            pid, status = Process.wait2(@pid, Process::WNOHANG)
            @status = status if pid
            return @status if @status || now > limit

            sleep 0.005
          end
          @status
        end
      end
    end
  end
end
