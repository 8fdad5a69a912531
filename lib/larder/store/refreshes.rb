# frozen_string_literal: true

# Runs the blocks of stale values, after the response and in a few threads.

require "concurrent/executor/thread_pool_executor"
require "larder/codecs/reports"

module Larder
  module Store
    # A bounded pool of threads for each process (concurrent-ruby's, which Active Support needs anyway). The work of a
    # web request of Rails begins after the response, if the thread that serves the request asks for it. All other work
    # begins at once: a script or a job may go on for ever, and a thread that ActionController::Live starts does not see
    # the end of the request. Each block runs as a piece of work of the application (`executor.wrap`), so that it
    # reloads code and gives database connections back as a request does.
    # @api private
    module Refreshes
      THREADS = 2
      MOST_WAITING = 100
      VARIABLE = :larder_refreshes
      private_constant :THREADS, :MOST_WAITING, :VARIABLE

      class << self
        # A web request begins: its work waits until {begin_waiting}.
        # @return [void]
        def wait
          Thread.current.thread_variable_set(VARIABLE, []) unless waiting
        end

        # @yieldparam runs [Boolean] false: there is no room for it
        def later(&work)
          waiting ? waiting << work : start(work)
        end

        # The work is called once. An error of the work itself is the work's to report.
        #
        # @yieldparam runs [Boolean] false: it cannot run, as there is no thread, or the application's executor fails
        # @return [Boolean] false: there is no room for it
        def now(&work)
          pool.post { run_apart(work) }
        rescue Concurrent::RejectedExecutionError, ThreadError # the latter in the handler of a signal
          false
        end

        # The response is sent.
        # @return [void]
        def begin_waiting
          works = waiting or return
          Thread.current.thread_variable_set(VARIABLE, nil)
          works.each { |work| start(work) }
        end

        # @return [Boolean] whether all have ended that had begun; waits for that number of seconds at most
        def await(seconds)
          deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
          sleep 0.001 while busy? && Process.clock_gettime(Process::CLOCK_MONOTONIC) < deadline
          !busy?
        end

        private

        # @return [Array<Proc>, nil] nil: this thread serves no web request
        def waiting
          Thread.current.thread_variable_get(VARIABLE)
        end

        def start(work)
          now(&work) || work.call(false)
        end

        # In a thread of its own, as a block may end its thread, and the pool would lack that.
        def run_apart(work)
          begun = false
          Thread.new do
            Thread.current.report_on_exception = false
            Application.in_executor do
              begun = true
              work.call(true)
            end
          end.join
        rescue StandardError => e
          raise if begun

          Reports.report(e, source: Reports::STORE)
        ensure
          work.call(false) unless begun
        end

        def pool
          @pool ||= Concurrent::ThreadPoolExecutor.new(name: "larder-refresh", min_threads: 0, max_threads: THREADS,
                                                       max_queue: MOST_WAITING, fallback_policy: :abort)
        end

        def busy?
          pool.queue_length.positive? || pool.completed_task_count < pool.scheduled_task_count
        end
      end
    end
  end
end
