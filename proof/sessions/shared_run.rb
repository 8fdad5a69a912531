# frozen_string_literal: true

# A run of the proof over `cache:`: two machines, a Redis that fails now and then, and threads that make operations.

require "fileutils"
require "tmpdir"
require_relative "clock"
require_relative "shared_driver"

module SessionProof
  # Makes outages, and counts.
  class SharedRun
    DRIVERS = 8
    # Each driver has this number of them.
    HOUSEHOLDS = 3
    # Operations between two outages, and the seconds that one takes.
    CALM = 40
    SECONDS = (0.1..1.6)
    POLL_SECONDS = 0.01
    COUNTS = { operations: "operations on sessions of two machines, each compared with a naive model",
               overlaps: "times that two to four requests of two machines overlapped",
               disturbed: "operations while the store failed", unknown: "of them answered that the store cannot tell",
               comparisons: "looks at a session on two machines" }.freeze
    # The part of the operations in calm that may be answered so, where the machine is busy.
    UNKNOWN = 0.05

    # A household of one driver, as the {SessionProof::Row} of a file.
    Row = Struct.new(:household) do
      alias_method :read, :household
      alias_method :write, :household=
    end

    # @param operations [Integer]
    # @param seed [Integer]
    # @param fault [String, nil] a name of {FaultsOfMachines}
    # @param copies [Boolean] true: each machine has copies
    def initialize(operations:, seed:, fault: nil, copies: false)
      @operations = operations
      @random = Random.new(seed)
      @fault = fault
      @copies = copies
      @weather = Weather.new
      clock = Clock.new { count(:operations) }
      @board = Hash.new { |_, place| place == :clock ? clock.now : 0 }.merge(kill: 1)
      @drivers = []
    end

    # @return [Hash{String => Integer}] what was counted
    # @raise [Difference]
    def run
      Dir.mktmpdir("larder-sessions") do |directory|
        machines = Machines.new(directory, fault: @fault, copies: @copies)
        machines.start
        play(machines)
      ensure
        machines.stop
      end
    end

    private

    def play(machines)
      @drivers = Array.new(DRIVERS) do
        SharedDriver.new(machines, @weather, @board, Random.new(@random.rand(1 << 32)))
      end
      threads = @drivers.each_with_index.map { |driver, number| Thread.new { drive(driver, number) } }
      lead(machines)
      threads.each(&:join)
      counted
    ensure
      threads&.each(&:kill)
    end

    # A difference is raised in the main thread.
    def drive(driver, number)
      Thread.current.report_on_exception = false
      Thread.current.abort_on_exception = true
      random = Random.new(@random.rand(1 << 32) + number)
      rows = Array.new(HOUSEHOLDS) { Row.new }
      until @board[:stop].positive?
        place = random.rand(HOUSEHOLDS)
        driver.play(rows[place], (number * HOUSEHOLDS) + place)
      end
      rows.each_with_index { |row, at| driver.look_at_all(row, (number * HOUSEHOLDS) + at) }
    end

    def lead(machines)
      next_outage = CALM
      while (done = count(:operations)) < @operations
        sleep(POLL_SECONDS)
        next if done < next_outage

        make_outage(machines)
        next_outage = count(:operations) + CALM
      end
      @board[:stop] = 1
    end

    def make_outage(machines)
      kind = Machines::OUTAGES[@weather.count % Machines::OUTAGES.size]
      @weather.outage(kind, @random.rand(SECONDS), DRIVERS) do |begun|
        machines.outage(kind, @random) do
          begun.call
          sleep(@weather.seconds)
        end
      end
    end

    def count(name)
      @drivers.sum { |driver| driver.counts[name] }
    end

    def counted
      unknown = count(:unknown_in_calm)
      if unknown > UNKNOWN * count(:operations)
        raise Difference, "#{unknown} requests were answered that the store cannot tell, while it ran"
      end

      { **COUNTS.to_h { |name, label| [label, count(name)] },
        "outages of the store, or of a link to it" => @weather.count }
    end
  end
end
