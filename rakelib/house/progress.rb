# frozen_string_literal: true

require_relative "process_tree"

module House
  # Judges whether a program still makes progress: it prints something, or its processes compute. How long it takes in
  # all is not limited, because a busy machine may take many times as long as an idle one.
  class Progress
    # Seconds without output, and with less than BUSY of a processor, after which a program hangs.
    QUIET_SECONDS = 300

    # The share of a processor that is progress. A loop that polls takes less; a program that computes takes more also
    # where it shares the processors with dozens of others.
    BUSY = 0.02

    # Where the processor time of other processes is unknown, output alone counts, and may come later.
    OUTPUT_ONLY = 4

    # How many times the processes are looked at within the quiet seconds.
    LOOKS = 60

    # Seconds that the time between two looks counts for at most.
    LONGEST_LOOK = 25

    # @param tree [ProcessTree] the program's processes
    # @param quiet [Numeric] as QUIET_SECONDS
    # @param cpu_limit [Numeric, nil] seconds of processor time after which it computes without end; nil: never
    # @param clock [#call] answers seconds
    def initialize(tree, quiet: QUIET_SECONDS, cpu_limit: nil,
                   clock: -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) })
      @tree = tree
      @clock = clock
      @quiet = tree.cpu_seconds ? quiet : quiet * OUTPUT_ONLY
      @cpu_limit = cpu_limit
      @every = @quiet / Float(LOOKS)
      @looked = clock.call
      @cpu = tree.cpu_seconds
      begin_again(0)
    end

    # @param output [Integer] bytes that it has printed so far
    # @return [String, nil] why it should be stopped; nil: it goes on
    def problem(output)
      now = @clock.call
      return if now - @looked < @every

      # Where nothing looked for long, as on a suspended machine, the program may have been suspended too.
      @silent += [now - @looked, LONGEST_LOOK].min
      @looked = now
      judge(output, @tree.cpu_seconds)
    end

    private

    def judge(output, cpu)
      return "computes without end: #{cpu.round} s of processor time" if @cpu_limit && cpu && cpu > @cpu_limit

      # A process whose parent has ended takes its time out of the sum when it ends itself.
      @worked += [cpu - @cpu, 0].max if cpu
      @cpu = cpu
      return begin_again(output) if output != @output
      return if @silent < @quiet
      return "hangs: no output and no work for #{@silent.round} s" if @worked < BUSY * @silent

      begin_again(output)
    end

    def begin_again(output)
      @output = output
      @worked = @silent = 0.0
      nil
    end
  end
end
