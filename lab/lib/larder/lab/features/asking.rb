# frozen_string_literal: true

require "json"
require "rbconfig"
require_relative "../child_process"

module Larder
  module Lab
    module Features
      # The process of a {Worker}: it is started with its job, and ended in every case.
      class Asking
        include ChildProcess

        SCRIPT = File.expand_path("worker.rb", __dir__)
        LIBRARY = File.expand_path("../../..", __dir__)
        # Seconds that it may take.
        LONGEST = 180
        # Stands for a question where the contender cannot be had, and where all is asked.
        UNAVAILABLE = "unavailable"
        DONE = "done"

        # @param job [Hash{Symbol=>Object}] works in its `dir`
        # @param log [String] file for everything that it prints
        # @param gemfile [String, nil] nil: that of this process
        def initialize(job, log:, gemfile:)
          @log = log
          orders, @orders = IO.pipe
          @answers, answers = IO.pipe
          environment = gemfile ? { "BUNDLE_GEMFILE" => gemfile } : {}
          @pid = Process.spawn(environment, RbConfig.ruby, "-I", LIBRARY, SCRIPT, in: orders, out: answers,
                               err: [log, "a"], chdir: job[:dir], pgroup: true)
          @deadline = now + LONGEST
          [orders, answers].each(&:close)
          @orders.puts(JSON.generate(job))
        rescue Errno::EPIPE
          nil # it died before it could read; its end says so
        end

        # @yieldparam answer [Array<Object>] question, answer and note
        # @return [void]
        # @raise [Unavailable] if the contender cannot be had
        # @raise [Invalid] if it failed, died, or did not finish in time
        def run
          while (line = line_from(@answers, @deadline - now, "it did not finish within #{LONGEST} s"))
            answer = JSON.parse(line)
            raise Unavailable, answer.last if answer.first == UNAVAILABLE
            return if answer.first == DONE

            yield answer
          end
          raise Invalid, "its process #{cause_of_death}"
        ensure
          @orders.close
          end_process
          @answers.close
        end
      end
    end
  end
end
