# frozen_string_literal: true

# A run of the proof: servers, links and machines, rounds of chaos, and the judgement of what all processes have seen.

require "fileutils"
require "tmpdir"
require_relative "chaos"
require_relative "judge"
require_relative "machine"
require_relative "network"
require_relative "plan"
require_relative "recovery"
require_relative "server"

module MachineProof
  # Starts everything, and ends what it has started.
  class Run
    # Seconds of a round's chaos, at most.
    ROUND = 45
    # Seconds that the recovery of a round takes, with its checks.
    CALM = 14
    # Seconds between two measurements of how late this machine lets a process run.
    NAP = 0.02

    # Counts, and texts of all that did not hold.
    Result = Struct.new(:counts, :problems, :directory)

    # @param seconds [Numeric]
    # @param seed [Integer]
    # @param directory [String] that exists and is empty
    # @param bug [String, nil] a name of {Bugs}
    # @param faults [Boolean] false: servers, links and processes are left alone
    def initialize(seconds:, seed:, directory:, bug: nil, faults: true)
      @seconds = seconds
      @seed = seed
      @bug = bug
      @faults = faults
      @directory = directory
      @random = Random.new(seed)
      @problems = []
      @recoveries = []
      @delays = []
    end

    # @return [Result]
    def run
      @since = Setting.now
      watch = Thread.new { measure_delays }
      start
      play_all
      members.each(&:finish)
      judged
    ensure
      watch&.kill
      stop
    end

    private

    def rounds
      [(@seconds.to_f / (ROUND + CALM)).round, 1].max
    end

    def start
      @servers = Setting::SERVERS.to_h { |name| [name, Server.new(File.join(@directory, name), size: 64 << 20)] }
      @servers.each_value(&:begin_life)
      @network = Network.new(@servers, File.join(@directory, "relay.log"))
      @machines = Array.new(Setting::MACHINES) do |number|
        Machine.new(number, File.join(@directory, "machine#{number}"), @network.ports(number), @seed, @bug)
      end
      members.each { |member| member.start(Setting::USUAL) }
      members.each(&:wait)
      @chaos = Chaos.new(@servers, @network, @machines)
    end

    def play_all
      rounds.times { |number| play(number) }
    rescue Member::Lost => e
      @problems << "ends: #{e.message}"
    end

    def play(number)
      length = [(@seconds.to_f / rounds) - CALM, 1].max
      @faults ? @chaos.play(Plan.new(@random, length, number).steps) : sleep(length)
      @chaos.heal
      recovery = Recovery.new(@machines, @machines[number % @machines.size], @servers.fetch("first"),
                              File.join(@directory, "fresh#{number}"))
      recovery.check
      @problems.concat(recovery.problems.map { |text| "recovery: #{text}" })
      @recoveries << recovery.seconds
    end

    def members
      @machines.to_a.flat_map { |machine| machine.members.values }
    end

    def judged
      evidence = gathered
      File.binwrite(File.join(@directory, "evidence"), Marshal.dump(evidence))
      judge = Judge.new(evidence, @since)
      missing = [*Work::READS.keys, *Work::CHANGES.keys] - evidence.operations.map(&:kind)
      @problems << "nothing was judged of #{missing.join(", ")}" if missing.any?
      @problems.concat(judge.texts)
      @problems.concat(members.flat_map(&:mishaps).map { |text| "ends: #{text}" })
      Result.new(counted(judge), @problems, @directory)
    end

    def gathered
      operations = members.flat_map(&:ledgers).select { |path| File.exist?(path) }.flat_map { |path| Ledger.read(path) }
      Evidence.new(operations: operations, servers: @servers.transform_values(&:record),
                   obstructions: @network.obstructions, stops: members.flat_map(&:stops),
                   deaths: members.flat_map(&:deaths), delays: @delays)
    end

    def counted(judge)
      done = @chaos.counts
      { "operations by processes of three machines, each judged" => judge.counts[:operations],
        "values read, each held against all writes and deletes" => judge.counts[:values],
        "writes that failed or were late, and may have arrived after their call" => judge.late_writes,
        "servers killed, and started again empty or from an old snapshot" => done[:kill_server],
        "servers stopped or emptied" => done[:stop_server] + done[:flush],
        "links held up, delayed or cut" => @network.obstructions.size,
        "processes killed or stopped" => done[:kill_process] + done[:stop_process],
        "processes restarted with another configuration" => done[:configure],
        "foreign and long messages" => done[:messages] * Chaos::FOREIGN.size,
        "recoveries of all machines, the longest after #{@recoveries.max&.round(1)} s" => @recoveries.size }
    end

    def measure_delays
      loop do
        began = Setting.now
        sleep(NAP)
        late = Setting.now - began - NAP
        @delays << [began, late] if late > NAP
      end
    end

    def stop
      members.each(&:force)
      @problems << "the relay has failed" if @network && !@network.close
      @servers&.each_value { |server| server.kill if server.lives? }
    end
  end
end
