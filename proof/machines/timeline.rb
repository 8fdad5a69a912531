# frozen_string_literal: true

# Computes from the ledgers when each version of a value may have been where. A server's lives are apart: one that was
# started again has nothing, or what is in a snapshot of an earlier life.
#
#   life 1   write v   |snapshot|   delete v applied   killed
#   life 2                                                     started from the snapshot: v is there again
#
# A version may be in a life from its write on until a later change of the name was applied there. A write that failed
# may arrive as long as its bytes are on their way.

require_relative "setting"
require_relative "work"

module MachineProof
  # All that was seen: operations, by servers, links and processes what happened to them, and how late this machine let
  # sleeping processes run.
  Evidence = Struct.new(:operations, :servers, :obstructions, :stops, :deaths, :delays, keyword_init: true)

  # See above.
  class Timeline
    # Seconds in which a server answers what it has received, once it can.
    SLACK = 1.0

    # `late`: from then on it cannot arrive any more. `settled`: from then on its machine deletes what arrives.
    Write = Struct.new(:version, :domain, :name, :machine, :began, :ended, :settled, :late)
    # `applied`: the server has it; nil: unknown.
    Change = Struct.new(:began, :ended, :applied)
    # When a version may be in a life; a change that begins at `bound` or later ends that, for the writer's machine one
    # from `bound_here` on. `own`: it is in the writer's file.
    Interval = Struct.new(:starts, :ends, :bound, :bound_here, :life, :own)

    # Changes of one name in the order of their beginning.
    class Changes
      # @param changes [Array<Change>]
      def initialize(changes)
        @changes = changes.sort_by(&:began)
        @ended = least(:ended)
        @applied = least(:applied)
      end

      # @return [Float] the earliest end of a change that began then or later
      def ended_since(bound)
        at(@ended, bound)
      end

      # @return [Float] the earliest time at which a change that began then or later was applied
      def applied_since(bound)
        at(@applied, bound)
      end

      private

      def least(member)
        least = Float::INFINITY
        @changes.reverse.map { |change| least = [least, change[member] || Float::INFINITY].min }.reverse
      end

      def at(list, bound)
        index = @changes.bsearch_index { |change| change.began >= bound }
        index ? list[index] : Float::INFINITY
      end
    end
    NONE = Changes.new([])

    # @return [Hash{String=>Write}] by version
    attr_reader :writes

    # @param evidence [Evidence]
    def initialize(evidence)
      @evidence = evidence
      @settled = settled_samples
      @writes = {}
      @intervals = {}
      @changes = Hash.new { |all, key| all[key] = [] }
      @own_changes = Hash.new { |all, key| all[key] = [] }
      evidence.operations.each { |operation| enter(operation) }
      flush_all
      [@changes, @own_changes].each { |all| all.transform_values! { |list| Changes.new(list) } }
    end

    # @param write [Write]
    # @return [Array<Interval>]
    def intervals(write)
      @intervals[write.version] ||= own(write) + in_lives(write)
    end

    # @param machine [Integer]
    # @return [Changes] of a name that this machine has made
    def changes_by(machine, domain, name)
      @own_changes.fetch([machine, domain, name], NONE)
    end

    # @param operation [Operation]
    # @return [String]
    def self.domain_of(operation)
      Setting::CONFIGURATIONS.fetch(operation.configuration).domain(operation.machine)
    end

    private

    # When the journal of each machine listed nothing for a server.
    def settled_samples
      samples = @evidence.operations.select do |operation|
        operation.kind == :stats && operation.ended && operation.result && operation.result["waiting"] == false
      end
      samples.group_by { |one| [one.machine, server_of(one)] }
             .transform_values { |list| list.map { |one| [one.began, one.ended] }.sort }
    end

    # @return [String, nil]
    def server_of(operation)
      Setting::CONFIGURATIONS.fetch(operation.configuration).server
    end

    def enter(operation)
      domain = Timeline.domain_of(operation)
      operation.versions.each do |name, version|
        @writes[version] = write_of(operation, domain, name, version)
      end
      return unless operation.answered? && Work::CHANGES.key?(operation.kind)

      change = Change.new(operation.began, operation.ended, applied(operation))
      operation.names.each do |name|
        @changes[[domain, name]] << change
        @own_changes[[operation.machine, domain, name]] << change
        alone = Setting::CONFIGURATIONS["without-remote"].domain(operation.machine)
        same_keys = domain.split("/").last == alone.split("/").last
        @own_changes[[operation.machine, alone, name]] << change if domain != alone && same_keys
      end
    end

    def write_of(operation, domain, name, version)
      ended = operation.ended || death_of(operation)
      late = settled = ended
      if suspect?(operation)
        arrives = arrival(operation, ended)
        late = arrives + SLACK
        settled = late unless operation.ended && arrives - ended <= Setting::REPEATED
      end
      Write.new(version, domain, name, operation.machine, operation.made[version] || operation.began, ended, settled,
                late)
    end

    def death_of(operation)
      @evidence.deaths.find { |process, _| process == operation.process }&.last || Float::INFINITY
    end

    def suspect?(operation)
      operation.ended.nil? || operation.errors.any? || operation.seconds > Setting::SUSPECT ||
        @evidence.stops.any? do |process, from, to|
          process == operation.process && from <= operation.ended && to >= operation.began
        end
    end

    # A request that is on its way while a link passes nothing on, or the server is stopped, arrives after that.
    def arrival(operation, ended)
      server = server_of(operation) or return ended
      waits = @evidence.servers.fetch(server).stops + holds(operation.machine, server)
      latest = ended
      loop do
        more = waits.select { |from, to| from <= latest && to > latest }.map(&:last).max or break
        latest = more
      end
      latest
    end

    def holds(machine, server)
      @evidence.obstructions.select { |one| [one.machine, one.server, one.lane] == [machine, server, "remote"] }
               .map { |one| [one.began, one.ended] }
    end

    def applied(operation)
      server = server_of(operation) or return operation.ended
      samples = @settled.fetch([operation.machine, server], [])
      samples.bsearch { |began, _| began >= operation.ended }&.last
    end

    def flush_all
      @evidence.servers.each do |server, record|
        changes = record.flushes.map { |began, ended| Change.new(began, ended, ended) }
        @changes.each { |(domain, _), list| list.concat(changes) if domain.start_with?("#{server}/") }
      end
    end

    def own(write)
      ends = write.domain.start_with?("machine") ? Float::INFINITY : write.ended
      [Interval.new(write.began, ends, write.ended, write.ended, nil, true)]
    end

    def in_lives(write)
      lives = lives_of(write)
      found = []
      lives.each_with_index do |life, index|
        gone = index.zero? ? -Float::INFINITY : lives[index - 1].gone
        if write.began <= life.gone && write.late >= life.starts
          found << interval(write, index, [write.began, life.starts].max, [write.late, gone].max,
                            [write.settled, gone].max)
        end
        found << interval(write, index, life.starts, gone, gone) if kept?(life.snapshot, found)
      end
      found
    end

    def lives_of(write)
      @evidence.servers[write.domain[%r{\A[^/]+}]]&.lives || []
    end

    def kept?(snapshot, intervals)
      snapshot && intervals.any? do |one|
        one.life == snapshot.life && one.starts <= snapshot.ended && one.ends >= snapshot.began
      end
    end

    def interval(write, index, starts, bound, bound_here)
      life = lives_of(write)[index]
      applied = @changes.fetch([write.domain, write.name], NONE).applied_since(bound)
      Interval.new(starts, applied <= life.ends ? applied : life.gone, bound, bound_here, index, false)
    end
  end
end
