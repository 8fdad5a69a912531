# frozen_string_literal: true

# How long a call may take, by what the guide says: one call of the remote store may fail, after its client's timeout,
# the others are answered within it; a change waits for the backplane once.

require_relative "setting"
require_relative "work"

module MachineProof
  # Compares durations with deadlines.
  class Deadlines
    # Seconds until a call of the remote store has failed: a connection and an answer are waited for, and once more.
    FAILS = 2 * Setting::TIMEOUT * (1 + Setting::RETRIES)
    # Calls of the remote store at most: of what the journal lists, of the entry, of versions of tags, of leases.
    CALLS = { read: 2, read_multi: 5, fetch: 6, fetch_alone: 10, write: 2, write_multi: 2, delete: 2, delete_multi: 2,
              delete_tagged: 3, clear: 4 }.freeze
    OF_TAGS = 3
    # Seconds of everything else on a machine that has nothing else to do.
    SPARE = 0.5
    # Processes that a call waits for one after the other, on a machine that lets processes wait.
    CHAIN = 10
    # Locks that a process may have to wait for while the one that has them is stopped.
    LOCKS = 10

    # @param evidence [Evidence]
    def initialize(evidence)
      @stops = evidence.stops.group_by(&:first)
      @machine_stops = evidence.stops.group_by { |process, *| process[/\Am\d+/] }
      @delays = evidence.delays
    end

    # @param operation [Operation] that has ended
    # @return [Float, nil] seconds more than its deadline; nil: it kept it
    def overrun(operation)
      allowed = seconds(operation)
      return if allowed.nil? || operation.seconds <= allowed

      late = operation.seconds - allowed - stopped(operation) - (CHAIN * lateness(operation))
      late -= LOCKS * Setting::LOCK if machine_stopped?(operation)
      late if late.positive?
    end

    # @param operation [Operation]
    # @return [Float, nil] its deadline; nil: it has none
    def seconds(operation)
      kind = operation.kind
      return unless CALLS.key?(kind)

      calls = CALLS.fetch(kind) - 1
      calls += OF_TAGS if operation.names.any? { |name| Setting::TAGS.key?(name) }
      allowed = FAILS + (calls * Setting::TIMEOUT) + SPARE
      allowed += Setting::PUBLISH + Setting::LOCK unless %i[read read_multi].include?(kind)
      allowed += Work::COMPUTES if kind == :fetch
      allowed += Work::COMPUTES + Work::WAIT if kind == :fetch_alone
      allowed
    end

    private

    def stopped(operation)
      (@stops[operation.process] || []).sum do |_, from, to|
        [[operation.ended, to].min - [operation.began, from].max, 0].max
      end
    end

    def machine_stopped?(operation)
      (@machine_stops[operation.process[/\Am\d+/]] || []).any? do |_, from, to|
        from <= operation.ended && to >= operation.began
      end
    end

    def lateness(operation)
      @delays.filter_map { |at, late| late if at.between?(operation.began, operation.ended + 1) }.max || 0
    end
  end
end
