# frozen_string_literal: true

# Fills the file with signed-in sessions when it is told to, keeps it full while anonymous sessions come, and empties it
# again: a process of its own.

require_relative "worker"

module SessionProof
  # It is never killed, and none of its signed-in sessions may be missing.
  class Filler
    # Bytes of its sessions, each size until no more of it is let in; and to which these grow then, for a part of the
    # room is reserved for that.
    SIZES = [3000, 300, 1].freeze
    GROWN = [12_000, 6000, 4000, 3200, 3050, 3010].freeze
    FIRST_USER = 1_000_000
    # Sessions of nobody that come at each look while it is full, and how many bytes each has.
    FLOOD = 10
    FLOOD_BYTES = 8000
    PAUSE_SECONDS = 0.002

    # @param place [Place]
    # @param number [Integer] of the worker
    def initialize(place, number)
      @place = place
      @number = number
      @board = Board.new(place.board)
      @subject = Subject.new(place.sessions)
      @kept = []
      @flood = []
      @grown = 0
      @made = 0
    end

    # @return [void]
    def work
      until @board[:stop].positive?
        @board[:fill].positive? ? fill : empty
        sleep PAUSE_SECONDS
      end
      empty
    rescue Difference => error
      File.write(@place.difference(@number), error.message)
      exit!(1)
    end

    private

    # Its clock stands still meanwhile: none of its sessions is over.
    def fill
      @subject.now = @board[:clock] if @kept.empty?
      @board[:filled] = 1
      SIZES.each { |size| nil while @board[:fill].positive? && add(size) }
      GROWN.each { |size| nil while @board[:fill].positive? && grow(size) }
      @board[:full] = @board[:fill]
      FLOOD.times { @flood << "flood/#{@made += 1}" and @subject.begin(@flood.last, { "v" => "x" * FLOOD_BYTES }) }
    end

    def add(size)
      id = "filler/#{@made}"
      done = @subject.begin(id, { "user_id" => FIRST_USER + (@made / Subject::PER_USER), "v" => "x" * size })
      @made += 1
      @kept << id if done == true
      done == true
    end

    def grow(size)
      found = @kept[@grown] && @subject.find(@kept[@grown])
      done = found && @subject.commit(found, found.values.merge("v" => "x" * size))
      @grown += 1 if done == true
      done == true
    end

    def empty
      @board[:full] = 0
      lost = @kept.reject { |id| @subject.find(id) && @subject.end(id) }
      back = @kept.select { |id| @subject.find(id) }
      @flood.each { |id| @subject.end(id) }
      [@kept, @flood].each(&:clear)
      @grown = 0
      @board[:filled] = 0
      raise Difference, "signed in while the file was full, and lost: #{lost.first(5).join(", ")}" if lost.any?
      raise Difference, "ended, and there again: #{back.first(5).join(", ")}" if back.any?
    end
  end
end
