# frozen_string_literal: true

# Puma in cluster mode with a copy of an application behind a link, as deploy tools have it: a phased restart loads the
# copy that the link names by then.

require "fileutils"
require "net/http"
require "socket"
require_relative "../../lib/larder/bytes/monotonic_clock"
require_relative "shell"

module Foreign
  # One master with its workers.
  class Server
    include Larder::MonotonicClock

    START_SECONDS = 600
    STOP_SECONDS = 60

    # @return [Integer] its port on 127.0.0.1
    attr_reader :port

    # @return [Integer, nil] process id of the master
    attr_reader :pid

    # @param name [String] for its files
    # @param copy [String] directory of the application
    # @param env [Hash{String => String, nil}]
    # @param directory [String] for its link, configuration and logs
    # @param workers [Integer]
    # @param preload [Boolean] whether workers are forks of one that has loaded the application: no phased restart
    def initialize(name, copy:, env:, directory:, workers: 2, preload: false)
      @name = name
      @env = env
      @link = File.join(directory, "#{name}-current")
      @log = File.join(directory, "#{name}.log")
      @settings = File.join(directory, "#{name}-puma.rb")
      @workers = workers
      @preload = preload
      @port = TCPServer.open("127.0.0.1", 0) { |one| one.addr[1] }
      FileUtils.mkdir_p(directory)
      release(copy)
      File.write(@settings, configuration)
    end

    # @param copy [String] what the next start or phased restart loads
    # @return [void]
    def release(copy)
      FileUtils.ln_sf(copy, "#{@link}.new", verbose: false)
      File.rename("#{@link}.new", @link)
    end

    # @return [Server] self, once it answers
    # @raise [Shell::Failed]
    def start
      @pid = Process.spawn(@env, "bundle", "exec", "puma", "-C", @settings, chdir: @link, pgroup: true, in: File::NULL,
                                                                             [:out, :err] => [@log, "a"])
      await_answer
      self
    end

    # Replaces one worker after the other, while the rest answers.
    #
    # @return [void]
    def phased_restart
      before = workers
      Process.kill(:USR1, @pid)
      await("a phased restart") { !workers.intersect?(before) && booted? && answers? }
    end

    # @return [void]
    def stop
      return if @pid.nil? || ended?

      Process.kill(:TERM, @pid)
      await("the end of its master", STOP_SECONDS) { ended? }
    rescue Shell::Failed
      kill
    end

    # Kills the master alone. Its workers notice that and end.
    #
    # @return [void]
    def kill_master
      left = workers
      Process.kill(:KILL, @pid)
      await("the end of its master") { ended? }
      await("the end of the workers without a master") { left.none? { |pid| alive?(pid) } }
    end

    # @return [Integer] the worker that was killed
    def kill_worker
      victim = workers.first || raise(Shell::Failed, "#{@name} has no worker")
      Process.kill(:KILL, victim)
      await("the end of a worker") { !alive?(victim) }
      victim
    end

    # Waits until all workers answer again.
    #
    # @return [void]
    def settle
      await("#{@workers} workers") { booted? && answers? }
    end

    # Ends all of its processes at once.
    #
    # @return [void]
    def kill
      Process.kill(:KILL, -@pid) if @pid
      Process.wait(@pid)
    rescue Errno::ESRCH, Errno::ECHILD
      nil # they have ended
    end

    # @return [Array<Integer>] process ids of the workers; one that has ended is not there, though its master has not
    #   noticed it yet
    def workers
      children = "/proc/#{@pid}/task/#{@pid}/children"
      File.exist?(children) ? File.read(children).split.map { |pid| Integer(pid) }.select { |pid| alive?(pid) } : []
    end

    # @return [Integer] bytes of memory of master and workers that are not shared
    def memory
      [@pid, *workers].sum do |pid|
        File.read("/proc/#{pid}/smaps_rollup").scan(/^Private_\w+:\s+(\d+) kB/).flatten.sum do |kilo|
          Integer(kilo) * 1024
        end
      rescue SystemCallError
        0 # it ended in between
      end
    end

    private

    def configuration
      <<~RUBY
        directory #{@link.inspect}
        rackup "config.ru"
        environment "production"
        workers #{@workers}
        threads 3, 3
        preload_app! #{@preload}
        worker_timeout 120
        worker_boot_timeout #{START_SECONDS}
        bind "tcp://127.0.0.1:#{@port}"
      RUBY
    end

    def await_answer
      await("its first answer", START_SECONDS) do
        raise Shell::Failed, "#{@name} ended; see #{@log}" if ended?

        answers?
      end
      settle
    end

    def answers?
      Net::HTTP.start("127.0.0.1", @port, open_timeout: 2, read_timeout: 30) { |http| http.head("/robots.txt") }
      true
    rescue SystemCallError, EOFError, Timeout::Error
      false
    end

    def await(what, seconds = START_SECONDS)
      deadline = monotonic_now + seconds
      until yield
        raise Shell::Failed, "#{@name}: waited #{seconds} s for #{what}; see #{@log}" if monotonic_now > deadline

        sleep(0.3)
      end
    end

    # A worker is a process before it has loaded the application. Puma logs when it has.
    def booted?
      workers.size == @workers && (workers - File.read(@log).scan(/\(PID: (\d+)\) booted/).flatten.map(&:to_i)).empty?
    end

    def ended?
      @ended_pid == @pid || (Process.wait(@pid, Process::WNOHANG) && (@ended_pid = @pid) && true)
    end

    def alive?(pid)
      File.read("/proc/#{pid}/stat")[/\) (\S)/, 1] != "Z"
    rescue SystemCallError
      false
    end
  end
end
