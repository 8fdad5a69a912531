# frozen_string_literal: true

# Starts and restarts the processes of a soak, records how each ended, and ends all of them.

require_relative "members/cluster"
require_relative "members/daemon"
require_relative "members/housekeeper"
require_relative "members/jobs"
require_relative "members/steady"
require_relative "members/visitor"

module Soak
  # The children of the first process, and theirs where they lost their parent.
  class Supervisor
    ENDING_SECONDS = 30
    # Nobody kills or stops these.
    PROTECTED = %i[steady housekeeper native_steady].freeze
    ALLOWED_SIGNALS = [2, 9, 15].freeze

    # Kinds of processes started so far => how often.
    attr_reader :started

    # @param setting [Setting]
    # @param random [Random]
    # @param worker [String] the program engine/soak/worker.c was built into
    # @param workers [Integer] of the cluster
    def initialize(setting, random, worker, workers)
      @setting = setting
      @book = setting.book
      @random = random
      @worker = worker
      @workers = workers
      @pids = {} # pid => kind
      @started = Hash.new(0)
    end

    # One of each kind that is missing.
    def fill
      reap
      here = @pids.values.tally
      wanted.each { |kind, count| (count - here.fetch(kind, 0)).times { start(kind) } }
    end

    # @return [Hash{Integer => Symbol}] pids of those that live as long as the soak, and what they are
    def lasting
      @pids.select { |_, kind| PROTECTED.include?(kind) }
    end

    # Records which processes have ended, and how.
    #
    # @return [void]
    def reap
      while (pid, status = Process.wait2(-1, Process::WNOHANG))
        kind = @pids.delete(pid) || :orphan
        next if status.success? || ALLOWED_SIGNALS.include?(status.termsig)

        @book.wrong("#{kind} #{pid} ended by itself: #{status.to_s.sub(/\Apid \d+ /, "")}")
      end
    rescue Errno::ECHILD
      nil
    end

    # Counts a child that somebody else started.
    def adopt(pid, kind)
      @pids[pid] = kind
    end

    # Tells all processes to end, and waits for it. One that does not end is a failure, and is killed.
    #
    # @param except [Integer, nil] pid of a child that goes on
    # @return [void]
    def clear(except: nil)
      @book[Book::ENDING] = 1
      ends = now + ENDING_SECONDS
      until (left = reap_all - [except]).empty?
        if now > ends
          left.each do |pid|
            @book.wrong("#{pid} (#{@pids[pid] || "a descendant"}) did not end")
            signal(pid, :KILL)
          end
          return
        end
        sleep(0.05)
      end
    end

    # Ends everything at once.
    def kill_all
      50.times do
        left = descendants
        break if left.empty?

        left.each { |pid| signal(pid, :KILL) }
        sleep(0.02)
        reap
      end
    end

    # @return [Array<Integer>] children and theirs
    def descendants
      parents = Dir.children("/proc").grep(/\A\d+\z/).filter_map do |pid|
        fields = File.read("/proc/#{pid}/stat").rpartition(")").last.split
        [Integer(pid), Integer(fields[1])] unless fields[0] == "Z"
      rescue Errno::ENOENT, Errno::ESRCH
        nil
      end
      below([Process.pid], parents.group_by(&:last))
    end

    # @return [Boolean] was it there?
    def signal(pid, name)
      Process.kill(name, pid)
      true
    rescue Errno::ESRCH
      false
    end

    private

    # Kind => how many processes of it there should be.
    def wanted
      { steady: 1, housekeeper: 1, native_steady: 1, cluster: 1, jobs: 1, daemon: 1, native: 1,
        visitor: @random.rand(3).zero? ? 1 : 0 }
    end

    def start(kind)
      seed = @random.rand(1 << 60)
      @started[kind] += 1
      pid = case kind
            when :native then native(seed, 2000 + @random.rand(8000))
            when :native_steady then native(seed, 0)
            when :cluster then Members::Cluster.start(@setting, seed, @workers)
            else Members.const_get(kind.capitalize).start(@setting, seed)
            end
      @pids[pid] = kind
    end

    def native(seed, life_ms)
      spawn(@worker, @book.path, @setting.path, @setting.size.to_s, @book.wrong_path, seed.to_s, life_ms.to_s)
    end

    def reap_all
      reap
      descendants
    end

    def below(parents, children)
      found = parents.flat_map { |parent| (children[parent] || []).map(&:first) }
      found.empty? ? found : found + below(found, children)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
