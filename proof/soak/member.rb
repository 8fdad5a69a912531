# frozen_string_literal: true

# The base of the Ruby processes of a soak: how they begin, open the cache, fork, report failures, and end. The kinds
# are in members/.

require_relative "worker"
require_relative "setting"

module Soak
  # One process.
  class Member
    ENDING_SECONDS = 20

    class << self
      # @return [Integer] pid of a child that works until it is told to end
      def start(setting, seed, *arguments)
        fork_from(setting) { new(setting, seed, *arguments).play }
      end

      # @yield in the child, which ends when the block does
      # @return [Integer] its pid
      def fork_from(setting)
        Process.fork do
          setting.begin_process
          guard(setting) { yield }
        end
      end

      # Whatever is raised is wrong.
      def guard(setting)
        yield
      rescue SystemExit
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException -- nothing may pass unseen
        setting.book.wrong("#{name}: #{e.class}: #{e.message} (#{e.backtrace&.first(6)&.join(", ")})")
        exit!(1)
      end
    end

    # @param setting [Setting]
    # @param seed [Integer]
    def initialize(setting, seed)
      @setting = setting
      @book = setting.book
      @random = Random.new(seed)
      @children = []
    end

    # Works until it is told to end.
    def play
      raise NotImplementedError, self.class.name
    end

    private

    # @return [Worker, nil] with a slot of its own; nil: all are taken
    def worker(cache, store, random = @random)
      worker = Worker.new(@setting, Random.new(random.rand(1 << 60)), cache, store)
      worker if worker.claim
    end

    def over?
      @setting.over? || @book.ending?
    end

    def next_seed
      @random.rand(1 << 60)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Threads that work until the block says so, each a worker of its own.
    def in_threads(count, cache, store, steady: false)
      workers = Array.new(count) { worker(cache, store) }.compact
      over = false
      threads = workers.map do |each|
        Thread.new do
          Thread.current.report_on_exception = false
          Thread.current[:soak_steady] = steady
          self.class.guard(@setting) do
            each.inherit
            each.work { over }
            each.leave # at once: another thread may rest, and who ended would be waited for
          end
        end
      end
      yield workers
    ensure
      over = true
      threads&.each(&:join)
    end

    # @return [Integer] pid of a child that goes on with what this process has open
    def fork_child(&block)
      pid = self.class.fork_from(@setting) do
        @children = []
        @random = Random.new(next_seed ^ Process.pid)
        block.call
      end
      @book.add(Book::FORKS)
      @children << pid
      pid
    end

    # Forgets children that have ended.
    def reap
      @children.reject! do |pid|
        _, status = Process.wait2(pid, Process::WNOHANG)
        judge(status) if status
        status
      end
    end

    def judge(status)
      return if status.success? || [9, 15].include?(status.termsig)

      @book.wrong("a child of #{self.class.name} ended by itself: #{status}")
    end

    def end_children
      @children.each { |pid| Process.kill(:TERM, pid) }
      ends = now + ENDING_SECONDS
      until @children.empty? || now > ends
        reap
        sleep(0.02)
      end
    end
  end
end
