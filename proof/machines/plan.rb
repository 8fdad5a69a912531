# frozen_string_literal: true

# The faults and deploys of one round, and when each happens: computed from random numbers alone, so that a seed gives
# the same plan again.

require_relative "setting"

module MachineProof
  # Steps are Arrays: seconds from the beginning of the round, the name of a method of {Chaos}, and its arguments.
  class Plan
    # Seconds between two faults, on average, and how long one lasts.
    GAP = 1.1
    LASTS = (0.3..3.0)
    # Seconds that old connections hang: longer than their client waits, shorter than a write may be late.
    HANGS = (Setting::TIMEOUT + 0.1)..(Setting::TIMEOUT + Setting::REPEATED - 0.1)
    # Seconds of a process that is stopped, between a process that was killed and the next one, of a link's delay.
    STOPPED = (0.1..1.5)
    STARTS_AGAIN = (0.05..0.5)
    DELAY = (0.02..0.15)
    # Seconds between two steps of a deploy, which restarts one process after the other, and then each back again.
    STEP = 3.0
    # So many of ten faults of servers are the first server's.
    FIRST = 8
    # Ways to hold up a link.
    HOLDS = ["hold both", "hold there", "hold back"].freeze

    KINDS = %i[kill_empty kill_old kill_old stop_server flush snapshot hold hold hold_old hold_old cut_remote
               cut_backplane cut_machine cut_all delay kill_process kill_process stop_process messages].freeze

    # @param random [Random]
    # @param seconds [Numeric] that the round lasts
    # @param number [Integer] of the round
    def initialize(random, seconds, number = 0)
      @random = random
      @seconds = seconds
      @number = number
    end

    # @return [Array<Array>] in the order of time
    def steps
      @steps = []
      faults
      deploys
      @steps.select { |at, *| at < @seconds }.sort_by.with_index { |(at, *), index| [at, index] }
    end

    private

    # Each kind once before one comes again.
    def faults
      step(0.5, :snapshot, "first")
      at = 1.0
      kinds = []
      while at < @seconds
        kinds = KINDS.shuffle(random: @random) if kinds.empty?
        send(kinds.pop, at)
        at += GAP * between(0.4..1.6)
      end
    end

    # The deploys of a round, one after the other, each on one machine or on all, and rolled back.
    def deploys
      targets = Setting::DEPLOYED.rotate(@number * 3)
      at = 1.0
      targets.cycle do |target|
        break if at >= @seconds

        machines = @random.rand(3).zero? ? [*0...Setting::MACHINES] : [@random.rand(Setting::MACHINES)]
        roles = Setting::ROLES.shuffle(random: @random)
        [target, Setting::USUAL].product(roles).each do |configuration, role|
          machines.each { |machine| step(at, :configure, machine, role, configuration) }
          at += STEP * between(0.5..1.5)
        end
      end
    end

    def kill_empty(at)
      name = server
      step(at, :kill_server, name)
      step(at + between(LASTS), :start_empty, name)
    end

    def kill_old(at)
      name = server
      step(at, :kill_server, name)
      step(at + between(LASTS), :start_old, name, @random.rand)
    end

    def stop_server(at)
      name = server
      step(at, :stop_server, name)
      step(at + between(LASTS), :continue_server, name)
    end

    def flush(at)
      step(at, :flush, server)
    end

    def snapshot(at)
      step(at, :snapshot, server)
    end

    def hold(at)
      lanes = [["remote"], ["backplane"], Setting::LANES].sample(random: @random)
      obstruct(at, [machine], lanes, HOLDS.sample(random: @random))
    end

    # Each process has a request on a connection that hangs, and its client makes another one.
    def hold_old(at)
      obstruct(at, [*0...Setting::MACHINES], ["remote"], "hold old", HANGS)
    end

    def cut_remote(at)
      obstruct(at, [machine], ["remote"], "cut")
    end

    def cut_backplane(at)
      obstruct(at, [machine], ["backplane"], "cut")
    end

    def cut_machine(at)
      obstruct(at, [machine], Setting::LANES, "cut")
    end

    def cut_all(at)
      obstruct(at, [*0...Setting::MACHINES], [Setting::LANES.sample(random: @random)], "cut")
    end

    def delay(at)
      obstruct(at, [machine], Setting::LANES, "delay #{between(DELAY).round(3)}")
    end

    def obstruct(at, machines, lanes, how, lasts = LASTS)
      links = machines.product(Setting::SERVERS, lanes)
      ends = at + between(lasts)
      links.each do |link|
        step(at, :obstruct, link, how)
        step(ends, :clear, link)
      end
    end

    def kill_process(at)
      process = [machine, Setting::ROLES.sample(random: @random)]
      step(at, :kill_process, *process)
      step(at + between(STARTS_AGAIN), :start_process, *process)
    end

    def stop_process(at)
      process = [machine, Setting::ROLES.sample(random: @random)]
      step(at, :stop_process, *process)
      step(at + between(STOPPED), :continue_process, *process)
    end

    def messages(at)
      step(at, :messages, server)
    end

    def step(at, *what)
      @steps << [at.round(3), *what]
    end

    def server
      Setting::SERVERS[@random.rand(10) < FIRST ? 0 : 1]
    end

    def machine
      @random.rand(Setting::MACHINES)
    end

    def between(range)
      range.begin + (@random.rand * (range.end - range.begin))
    end
  end
end
