# frozen_string_literal: true

require "socket"
require_relative "ledger"

module DeployProof
  # Starts and ends the containers, and has each of their workers do one call at a time, all at once.
  class Driver
    KEYS = Array.new(6) { |number| "key#{number}" }.freeze
    TAGS = %w[red round].freeze
    # Calls by how often they are made.
    CALLS = { read: 12, fetch: 10, write: 3, write_tagged: 3, delete: 3, delete_tagged: 2, delete_matched: 1 }
            .flat_map { |name, times| [name] * times }.freeze
    CLEAR_EACH = 200
    KILL_EACH = 150
    # Seconds that workers may take, and between two looks at a container that ends.
    LONGEST = 120
    SHORT = 0.05

    # A container: its process, the pipe of its standard input, and its sockets with the calls that were sent.
    Container = Struct.new(:pid, :input, :workers, :calls, :found)

    # @return [Hash{String => Integer}]
    attr_reader :counts

    # @param programs [Hash{Symbol => Array<String>}] command lines, by the name of a container
    # @param directory [String] the volume
    def initialize(programs, directory, random)
      @programs = programs
      @directory = directory
      @random = random
      @ledger = Ledger.new
      @containers = {}
      @counts = Hash.new(0)
      @server = UNIXServer.new(socket)
    end

    # @param name [Symbol]
    def start(name)
      input, output = IO.pipe
      pid = Process.spawn(*@programs.fetch(name), socket, File.join(@directory, "cache.larder"), name.to_s, in: input)
      input.close
      @containers[name] = Container.new(pid, output, {}, 0, 0)
      2.times { greet }
    end

    # Goes on until each container has done that number of further calls, and those named have found a value.
    def play(calls, finds: [])
      goals = @containers.transform_values { |container| container.calls + calls }
      found = finds.to_h { |name| [name, @containers.fetch(name).found] }
      until goals.all? { |name, goal| @containers[name].calls >= goal } &&
            found.all? { |name, before| @containers[name].found > before }
        @containers.each_value { |container| give_work(container) }
        listen
        kill_a_worker if @random.rand(KILL_EACH).zero?
      end
    end

    # Its processes end well. Until then, a worker may still start in place of one that was killed.
    def stop(name)
      container = @containers.fetch(name)
      container.input.close
      container.workers.each_key(&:close_write)
      ending = Process.detach(container.pid)
      listen(SHORT) while ending.alive? || container.workers.any?
      raise Wrong, "#{name} ended with #{ending.value.inspect}" unless ending.value.success?

      @containers.delete(name)
    end

    # All of its processes at once.
    def kill(name)
      container = @containers.fetch(name)
      Process.kill(:KILL, container.pid)
      Process.wait(container.pid)
      listen until container.workers.empty?
      container.input.close
      @containers.delete(name)
      @counts["containers killed"] += 1
    end

    private

    def socket
      File.join(@directory, "socket")
    end

    # A worker has started.
    def greet
      raise Wrong, "no worker has started" unless @server.wait_readable(LONGEST)

      worker = @server.accept
      name = worker.gets(chomp: true) # nil: it was killed before it could send that
      container = @containers[name.to_sym] if name
      return worker.close unless container

      container.workers[worker] = nil
      worker.close_write if container.input.closed? # the container ends, and has started it for one that was killed
    end

    def give_work(container)
      container.workers.each do |worker, call|
        next if call

        name = @random.rand(CLEAR_EACH).zero? ? :clear : CALLS.sample(random: @random)
        call = @ledger.begin_call(name, KEYS.sample(random: @random), TAGS.sample(random: @random))
        container.workers[worker] = call
        worker.puts([name, *{ write_tagged: [call.key, call.value, call.tag], delete_tagged: [call.tag], clear: [] }
                             .fetch(name, [call.key, call.value])].compact.join(" "))
      rescue Errno::EPIPE
        nil # it was killed, as the next reading of the socket shows
      end
    end

    # @param seconds [Numeric] after which it returns; with LONGEST it raises
    def listen(seconds = LONGEST)
      workers = @containers.each_value.flat_map { |container| container.workers.keys }
      ready, = IO.select([@server, *workers], [], [], seconds)
      raise Wrong, "no worker has answered for #{LONGEST} seconds" if ready.nil? && seconds == LONGEST

      ready&.each { |from| from == @server ? greet : hear(from) }
    end

    def hear(worker)
      container = @containers.each_value.find { |one| one.workers.key?(worker) }
      call = container.workers[worker]
      line = line_of(worker) or return lose(container, worker, call)
      answer = Marshal.load(line.unpack1("m"))
      return @ledger.computes(call) if answer == :computes

      container.workers[worker] = nil
      container.calls += 1
      @counts["calls"] += 1
      count(container, call, answer)
    end

    # @return [String, nil] nil: it has ended, or was killed
    def line_of(worker)
      line = worker.gets
      line if line&.end_with?("\n")
    rescue Errno::ECONNRESET
      nil
    end

    def count(container, call, answer)
      found = @ledger.end_call(call, answer)
      container.found += 1 if found
      @counts["values found, and compared with the ledger"] += 1 if found
      @counts["calls that could not be done"] += 1 if answer == :failed
    end

    def lose(container, worker, call)
      container.workers.delete(worker)
      worker.close
      @ledger.end_call(call, :killed) if call
    end

    def kill_a_worker
      @containers.values.sample(random: @random).input.puts(@random.rand(2))
      @counts["processes killed"] += 1
    end
  end
end
