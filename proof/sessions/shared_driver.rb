# frozen_string_literal: true

# Makes operations on sessions that two machines share. The judge compares each, after both machines have sent the store
# all that it has missed.

require_relative "driver"
require_relative "machines"

module SessionProof
  # The outages, between the thread that makes them and the drivers. An outage begins when each driver has settled its
  # last operation and waits for it.
  class Weather
    # @return [Integer] outages until now
    attr_reader :count
    # @return [Numeric] seconds that the last one takes
    attr_reader :seconds
    # @return [String] its kind
    attr_reader :kind

    def initialize
      @count = @seconds = 0
      @state = :calm
      @waiting = Queue.new
      @start = Queue.new
    end

    # @return [Boolean]
    def calm?
      @state != :outage
    end

    # Waits for the outage that has been announced.
    # @return [Boolean] false: none was announced
    def await
      return false unless @state == :announced

      @waiting << true
      @start.pop
    end

    # @param drivers [Integer] that have to wait
    # @yield makes the outage, and calls its argument when it has begun
    # @return [void]
    def outage(kind, seconds, drivers)
      @kind = kind
      @seconds = seconds
      @state = :announced
      drivers.times { @waiting.pop }
      @count += 1
      @state = :outage
      yield(-> { drivers.times { @start << true } })
    ensure
      @state = :calm
    end
  end

  # Asks two machines, as the {Driver} one file.
  class SharedDriver < Driver
    # Seconds for an end that waits for the store, when that answers again.
    PATIENCE = 30
    PAUSE = 0.02
    # Requests begin until this many seconds after an outage.
    AFTER = 0.7
    private_constant :PATIENCE, :PAUSE, :AFTER

    # The machines, as the {Subject} is one file.
    class Subject
      # @return [Integer] Unix seconds
      attr_accessor :now
      # @return [Array<String>]
      attr_reader :reported

      # @param machines [Machines]
      # @param random [Random]
      def initialize(machines, random)
        @machines = machines
        @random = random
        @reported = []
        @free = Queue.new
      end

      def before_call; end

      # @param machine [Integer]
      # @return [Object]
      # @raise [Machines::Unknown]
      # @raise [Difference]
      def ask(machine, name, *arguments)
        connections = @free.empty? ? @machines.connect : @free.pop
        Marshal.dump([@now, name, *arguments], connections[machine])
        kind, answer = Marshal.load(connections[machine])
        @free << connections
        raise Machines::Unknown, answer if kind == :unknown
        raise Difference, "machine #{machine} failed at #{name} #{arguments}: #{answer}" if kind == :error

        answer
      end

      %i[sessions_of handle logged_in? last_seen].each do |name|
        define_method(name) { |argument| ask(@random.rand(Machines::COUNT), name, argument) }
      end

      # A file can be full, Redis has room.
      def fullness
        0
      end
    end

    # @param machines [Machines]
    # @param weather [Weather]
    # @param board [Hash{Symbol => Integer}]
    # @param random [Random]
    def initialize(machines, weather, board, random)
      super(Subject.new(machines, random), board, random)
      @machines = machines
      @weather = weather
      @disturbed = false
    end

    # @param (see Driver#play)
    # @return (see Driver#play)
    def play(row, number)
      @disturbed = @weather.await
      super
    end

    private

    def disturbed?
      @disturbed
    end

    def draw(household)
      @disturbed ? Requests.new(@random, household, failing: true).draw : super
    end

    def perform(household, requests)
      @subject.now = household.clock
      late = @disturbed ? @weather.seconds + AFTER : 0
      first = @random.rand(Machines::COUNT)
      requests.each_with_index { |request, index| request.machine = (first + index) % Machines::COUNT }
      pauses = requests.map { late.zero? ? 0 : @random.rand(late) }
      threads = requests.zip(pauses).map do |request, pause|
        Thread.new do
          Thread.current.report_on_exception = false # it is raised by join
          sleep(pause)
          perform_one(household, request)
        end
      end
      threads.each(&:join)
      @counts[:disturbed] += requests.size if @disturbed
      unknown = requests.count { |request| request.result.nil? }
      @counts[@disturbed ? :unknown : :unknown_in_calm] += unknown
      @disturbed = true if unknown.positive?
    end

    # The time of the last use goes unwritten if the store fails for a moment, also where that is not noticed here.
    def seen(household, user, signed_in)
      household.seen.delete(user)
      super
    end

    def mishap
      ", while the store failed (#{@weather.kind})" if @disturbed
    end

    def perform_one(household, request)
      request.started = moment
      request.result = answer(household, request)
      request.finished = moment
    end

    def moment
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    end

    def answer(household, request)
      id = request.id && household.id(request.id)
      to = request.to && household.id(request.to)
      case request.kind
      when :revoke then @subject.ask(request.machine, :revoke, id)
      when :logout
        @subject.ask(request.machine, :logout, request.user, request.except && household.id(request.except))
      else
        @subject.ask(request.machine, :change, request.kind, id, to, Value.expand_all(request.set), request.removed)
      end
    rescue Machines::Unknown
      nil
    end

    # Waits until the store answers both machines, and has all that waited for it.
    def settle
      limit = now + PATIENCE
      until @weather.calm? && (waits = Array.new(Machines::COUNT) { |one| one unless settled?(one) }.compact).empty?
        raise Difference, "machines #{waits} have not told the store what it missed" if now > limit

        sleep(PAUSE)
      end
    end

    def settled?(number)
      @subject.ask(number, :settled?)
    rescue Machines::Unknown
      false
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # The block's value, when the store answers.
    def in_calm
      settle if @disturbed
      limit ||= now + PATIENCE
      yield
    rescue Machines::Unknown => error
      raise Difference, "the store answers, and a machine does not: #{error.message}" if now > limit

      sleep(PAUSE)
      retry
    end

    # A machine may have an old copy for a while.
    def judged(*, **)
      limit = now + Machines::OLD_COPY
      loop do
        @unlike = []
        judge, sessions = super
        judge.differences.concat(@unlike)
        return [judge, sessions] if judge.differences.empty? || !@machines.copies || now > limit

        sleep(PAUSE)
      end
    end

    def observe(household, requests, all)
      in_calm { super }
    end

    # On both machines.
    def values_of(ids)
      each = Array.new(Machines::COUNT) { |number| @subject.ask(number, :find, ids) }
      ids.zip(*each) do |id, *values|
        @unlike << "session #{id} is #{values.map(&:inspect).join(" and ")} on the machines" if values.uniq.size > 1
      end
      each.first
    end

    def answers(household)
      in_calm { super }
    end
  end
end
