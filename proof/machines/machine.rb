# frozen_string_literal: true

# A machine of the proof: a directory with a file and a journal of its own, and two processes.

require "English"
require "fileutils"
require "io/wait"
require "json"
require "rbconfig"
require_relative "setting"

module MachineProof
  # One of its processes. Another one takes its place where it was killed or gets another configuration.
  class Member
    PROGRAM = File.expand_path("worker.rb", __dir__)
    LIBRARY = File.expand_path("../../lib", __dir__)
    # Seconds for starting, for answering and for ending.
    PATIENCE = 60
    private_constant :PROGRAM, :LIBRARY, :PATIENCE

    # It has ended by itself, or does not answer.
    class Lost < StandardError; end

    # @return [String] of the process that runs now
    attr_reader :name
    # @return [String] the name of the configuration
    attr_reader :configuration
    # @return [Array<String>] paths of the ledgers
    attr_reader :ledgers
    # @return [Array<Array(String, Float, Float)>] name, and times between which it was stopped
    attr_reader :stops
    # @return [Array<Array(String, Float)>] name, and the time after which it was dead
    attr_reader :deaths
    # @return [Array<String>] how it ended when it should not have, or otherwise than it should have
    attr_reader :mishaps

    # @param machine [Integer]
    # @param role [String]
    # @param directory [String]
    # @param ports [Hash{String=>Integer}]
    # @param seed [Integer]
    # @param bug [String, nil]
    def initialize(machine, role, directory, ports, seed, bug)
      @machine, @role, @directory, @ports, @seed, @bug = machine, role, directory, ports, seed, bug
      @count = 0
      @ledgers = []
      @stops = []
      @deaths = []
      @mishaps = []
    end

    # Does not wait until it is ready, see {#wait}.
    #
    # @param configuration [String] a name
    # @return [void]
    def start(configuration)
      @configuration = configuration
      @name = "m#{@machine}-#{@role}-#{@count += 1}"
      @ledgers << File.join(@directory, "#{@name}.ledger")
      @log = File.join(@directory, "#{@name}.log")
      input, @to = IO.pipe
      @from, output = IO.pipe
      @pid = Process.spawn(RbConfig.ruby, "-I#{LIBRARY}", PROGRAM, JSON.generate(job), in: input, out: output,
                                                                                         err: [@log, "a"])
      [input, output].each(&:close)
      @is_ready = false
    end

    # @return [Boolean]
    def lives?
      !@pid.nil?
    end

    # Waits until it has loaded the store.
    # @return [void]
    def wait
      answer unless @is_ready
      @is_ready = true
    end

    # @param order [Hash{Symbol=>Object}]
    # @return [Object] the answer
    def ask(order)
      wait
      @to.puts(JSON.generate(order))
      answer
    rescue Errno::EPIPE
      raise Lost, "#{@name} ended by itself: #{told(nil)}"
    end

    # @return [void]
    def kill
      return unless lives?

      resume
      signal(:KILL)
      ended = reap(PATIENCE)
      @deaths << [@name, Setting.now]
      @mishaps << "#{@name} ended before it was killed: #{told(ended)}" unless ended&.termsig == Signal.list["KILL"]
    end

    # Ends it as an operator does, and expects that it does so without an error.
    # @return [void]
    def finish
      return unless lives?

      resume
      wait
      signal(:TERM)
      ended = reap(PATIENCE)
      @mishaps << "#{@name} did not end as it should: #{told(ended)}" unless ended&.success?
      force unless ended
    rescue SystemCallError, Lost => e
      @mishaps << "#{@name}: #{e.message}"
      force
    end

    # Ends it at once, whatever it does.
    # @return [void]
    def force
      return unless lives?

      signal(:KILL)
      reap(PATIENCE)
      @deaths << [@name, Setting.now]
    end

    # @return [void]
    def suspend
      return if !lives? || stopped?

      @stops << [@name, Setting.now, Float::INFINITY]
      signal(:STOP)
    end

    # @return [void]
    def resume
      return unless stopped?

      signal(:CONT)
      @stops.last[2] = Setting.now
    end

    # Notes a process that has ended by itself.
    # @return [void]
    def look_after
      return unless lives? && (ended = reap(0))

      @deaths << [@name, Setting.now]
      @mishaps << "#{@name} ended by itself: #{told(ended)}"
      start(@configuration)
    end

    private

    def job
      { path: File.join(@directory, "cache.larder"), ledger: @ledgers.last, ports: @ports, bug: @bug,
        seed: @seed + @count,
        process: { process: @name, machine: @machine, role: @role, configuration: @configuration } }
    end

    def answer
      raise Lost, "#{@name} does not answer" unless @from.wait_readable(PATIENCE)

      line = @from.gets or raise Lost, "#{@name} ended by itself: #{told(nil)}"
      JSON.parse(line).first
    end

    def signal(name)
      Process.kill(name, @pid)
    end

    # @return [Process::Status, nil]
    def reap(patience)
      limit = Setting.now + patience
      until Process.wait(@pid, Process::WNOHANG)
        return if Setting.now >= limit

        sleep(0.005)
      end
      @pid = nil
      [@to, @from].each(&:close)
      $CHILD_STATUS
    end

    def stopped?
      @stops.last && @stops.last[2] == Float::INFINITY
    end

    def told(status)
      said = File.exist?(@log) ? File.read(@log, encoding: "UTF-8").scrub.strip : ""
      [status || "no status", *(said[-1000..] || said unless said.empty?)].join(": ")
    end
  end

  # A directory and two processes.
  class Machine
    # @return [Integer]
    attr_reader :number
    # @return [Hash{String=>Member}] by role
    attr_reader :members

    # @param number [Integer]
    # @param directory [String]
    # @param ports [Hash{String=>Integer}]
    # @param seed [Integer]
    # @param bug [String, nil]
    def initialize(number, directory, ports, seed, bug)
      FileUtils.mkdir_p(directory)
      @number = number
      @members = Setting::ROLES.each_with_index.to_h do |role, index|
        [role, Member.new(number, role, directory, ports, seed + (1000 * ((number * 2) + index)), bug)]
      end
    end
  end
end
