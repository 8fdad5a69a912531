# frozen_string_literal: true

# Makes operations on the sessions of a group of users, and lets the judge compare each. Writes down what it will do
# before it does it, and what it saw afterwards.

require_relative "judge"
require_relative "requests"

module SessionProof
  # What did not hold, with the last operations on the household.
  class Difference < StandardError; end

  # Plays in one process.
  class Driver
    # Operations on a household that are told where it differs.
    TOLD = 20
    # Sessions that have ended and are looked for after each operation: the last ones, and as many of all.
    LATEST = 6
    # How full the file is where a refusal is right.
    FULL = 0.6
    # Calls of the backend after which a process that is to die does so.
    FUSE = (1..25)

    # @return [Hash{Symbol => Integer}]
    attr_reader :counts

    # @param subject [Subject]
    # @param board [Board]
    # @param random [Random]
    # @param counts [Hash{Symbol => Integer}] to go on with
    def initialize(subject, board, random, counts = Hash.new(0))
      @subject = subject
      @board = board
      @random = random
      @counts = counts
      @steps = 0
      @fuse = nil
      @subject.before_call { step }
    end

    # @param row [Row] that is locked
    # @param number [Integer] of the household
    # @return [void]
    # @raise [Difference]
    def play(row, number)
      household = settled(row, number)
      household.clock = [household.clock, @board[:clock]].max
      requests = draw(household)
      household.intent = requests
      row.write(household)
      full = @board[:full]
      perform(household, requests)
      count(requests, full)
      finish(row, household, requests, killed: false)
    end

    # @return [Household] in which nothing is being done, whoever died at it
    def settled(row, number)
      household = row.read || Household.make(number)
      return household unless household.intent

      @counts[:recoveries] += 1
      finish(row, household, household.intent, killed: true)
      household
    end

    # Looks at each session that there ever was.
    #
    # @return [Household]
    def look_at_all(row, number)
      household = settled(row, number)
      household.clock = [household.clock, @board[:clock]].max
      finish(row, household, [], killed: false, all: true)
      household
    end

    # Ends this process by SIGKILL in the midst of an operation that is played next.
    # @return [void]
    def light_fuse
      @fuse = @random.rand(FUSE)
    end

    private

    def step
      Fiber.yield if Thread.current[:session_proof_overlaps]
      return unless @fuse

      @fuse -= 1
      Process.kill(:KILL, Process.pid) if @fuse <= 0
    end

    def draw(household)
      Requests.new(@random, household, overlap: @board[:kill].positive?).draw
    end

    def perform(household, requests)
      @subject.now = household.clock
      return perform_one(household, requests.first) if requests.size == 1

      fibers = requests.map do |request|
        Fiber.new do
          Thread.current[:session_proof_overlaps] = true
          perform_one(household, request)
        ensure
          Thread.current[:session_proof_overlaps] = false
        end
      end
      until fibers.empty?
        fiber = fibers.sample(random: @random)
        fiber.resume
        fibers.delete(fiber) unless fiber.alive?
      end
    end

    def perform_one(household, request)
      request.started = @steps += 1
      request.result = answer(household, request)
      request.finished = @steps += 1
    end

    def answer(household, request)
      id = request.id && household.id(request.id)
      case request.kind
      when :begin then @subject.begin(household.id(request.to), Value.expand_all(request.set))
      when :commit then change(request, id) { |found, values| @subject.commit(found, values) }
      when :renew then change(request, id) { |found, values| @subject.renew(found, household.id(request.to), values) }
      when :end then @subject.end(id)
      when :revoke then (handle = @subject.handle(id)) ? @subject.revoke(handle) : false
      when :logout then @subject.logout(request.user, request.except && household.id(request.except))
      end
    end

    def change(request, id)
      found = @subject.find(id)
      return false unless found

      yield found, found.values.merge(Value.expand_all(request.set)).except(*request.removed)
    end

    def count(requests, full)
      @counts[:operations] += requests.size
      @counts[:overlaps] += 1 if requests.size > 1
      @counts[:while_full] += requests.size if full.positive?
      refused = requests.count { |request| request.result == :full }
      return if refused.zero?

      @counts[:refusals] += refused
      @refused_for_nothing = full.zero? && @board[:filled].zero? && @subject.fullness < FULL
    end

    # True if the answers of the last requests may say less than was done.
    def disturbed?
      false
    end

    def finish(row, household, requests, killed:, all: false)
      @subject.now = household.clock
      roomy = !killed && @board[:filled].zero?
      judge, sessions = judged(household, requests, all, killed: killed || disturbed?, roomy: roomy)
      told = remember(household, requests, killed)
      @counts[:evicted] += judge.evicted
      household.sessions = sessions
      household.follow(requests, roomy)
      household.turn += 1
      # The time goes unwritten of who is killed, or logged out beside another end; and where there is no room for it.
      household.seen = {} if killed || disturbed? || requests.size > 1 || @board[:filled].positive?
      differ(household, told, judge.differences + answers(household) + mishaps)
      household.intent = nil
      row.write(household)
    end

    # @return [Array(Judge, Hash{Integer => Session})]
    def judged(household, requests, all, **how)
      judge = Judge.new(household, requests, observe(household, requests, all), household.clock, **how)
      [judge, judge.sessions]
    end

    def observe(household, requests, all)
      made = household.made
      numbers = household.sessions.keys | requests.filter_map(&:to) | requests.filter_map(&:id)
      numbers |= (all ? 1..made : [made - LATEST, 1].max..made).to_a
      numbers |= Array.new(LATEST) { @random.rand(1..made) } if made.positive?
      @counts[:comparisons] += numbers.size
      numbers = (numbers & (1..made).to_a).sort
      numbers.zip(values_of(numbers.map { |number| household.id(number) })).to_h
    end

    def values_of(ids)
      ids.map { |id| @subject.find(id)&.values }
    end

    # What is answered about users, against the model.
    def answers(household)
      household.users.flat_map do |user|
        expected = household.of(user).keys.sort
        said = @subject.sessions_of(user)
        differences = []
        if said.map(&:last).sort != expected
          differences << "user #{user} is said to have the sessions #{said.map(&:last)}, and has #{expected}"
        end
        handles = expected.map { |number| @subject.handle(household.id(number)) }
        differences << "user #{user} has other handles than told" if said.map(&:first).sort != handles.map(&:to_s).sort
        differences << "user #{user} is taken for #{"not " if expected.any?}signed in" \
          if @subject.logged_in?(user) != expected.any?
        differences << seen(household, user, expected.any?)
      end.compact
    end

    def seen(household, user, signed_in)
      last = @subject.last_seen(user)
      before = household.seen[user]
      household.seen[user] = last || before
      return "user #{user} was never seen, and is signed in" if signed_in && last.nil?
      return "user #{user} was seen in the future" if last && last > household.clock

      "user #{user} was last seen #{before - last} s earlier than was said before" if last && before && last < before
    end

    def mishaps
      mishaps = @subject.reported.map { |text| "reported: #{text}" }
      mishaps << "a refusal, with room for others" if @refused_for_nothing
      @subject.reported.clear
      @refused_for_nothing = false
      mishaps
    end

    def remember(household, requests, killed)
      line = "#{household.clock}: #{requests.join("; ")}#{", its process was killed" if killed}#{mishap}"
      household.history.push(line).shift([household.history.size - TOLD, 0].max)
      household.history
    end

    # @return [String, nil] for people: a failure during the last requests
    def mishap; end

    def differ(household, told, differences)
      return if differences.empty?

      raise Difference, "household #{household.number} (users #{household.users.join(" and ")}):\n" \
                        "#{differences.map { |text| "  #{text}\n" }.join}its last operations:\n" \
                        "#{told.map { |line| "  #{line}\n" }.join}"
    end
  end
end
