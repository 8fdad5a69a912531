# frozen_string_literal: true

# A process that makes operations until it is told to stop, or is killed.

require_relative "ledger"
require_relative "driver"

module SessionProof
  # The files of a run.
  Place = Struct.new(:directory, :households) do
    # @return [String]
    def sessions
      File.join(directory, "sessions.larder")
    end

    # @return [String]
    def board
      File.join(directory, "board")
    end

    # @param household [Integer]
    # @return [String]
    def row(household)
      File.join(directory, "row-#{household}")
    end

    # @return [String] where a process writes down what did not hold
    def difference(worker)
      File.join(directory, "difference-#{worker}")
    end
  end

  # One of the eight.
  class Worker
    # One in this number of operations ends in a kill by itself, where the run kills.
    DEATHS = 700

    # @param place [Place]
    # @param number [Integer]
    # @param seed [Integer]
    def initialize(place, number, seed)
      @place = place
      @number = number
      @random = Random.new(seed)
      @board = Board.new(place.board)
      @rows = Hash.new { |rows, household| rows[household] = Row.new(place.row(household)) }
      @driver = Driver.new(Subject.new(place.sessions), @board, @random, @board.counts(number))
    end

    # @return [void]
    def work
      until @board[:stop].positive?
        @driver.light_fuse if @board[:kill].positive? && @random.rand(DEATHS).zero?
        household = @random.rand(@place.households)
        done = @rows[household].try { |row| @driver.play(row, household) || true }
        @board.put(@number, @driver.counts) if done
      end
    rescue Difference => error
      File.write(@place.difference(@number), error.message)
      exit!(1)
    end
  end
end
