# frozen_string_literal: true

# Compares what was read with what may be read. Nothing else of Larder's is known here than what the guide to many
# machines promises.

require_relative "deadlines"
require_relative "timeline"

module MachineProof
  # The rules:
  #
  # - own: a version that a machine has deleted or replaced, and answered, none of its processes reads again, unless the
  #   server has gone back to a time before that
  # - age: a read that begins later than local_expires_in: after the server has applied a change does not answer a
  #   version of before it; a server that goes back in time has applied that when it starts
  # - foreign: a read answers what was written under this key in this configuration's domain
  # - deadline: a call takes no longer than it may
  # - raises: no exception reaches the caller
  class Judge
    # Seconds of difference between two clocks, as Larder reads a coarse one.
    EPSILON = 0.05
    # Findings of a rule that are printed.
    TOLD = 5

    # A rule that did not hold, the operation in words, and when.
    Finding = Struct.new(:rule, :text, :at)

    # @return [Hash{Symbol=>Integer}] what was compared
    attr_reader :counts

    # @param evidence [Evidence]
    # @param since [Float] the beginning of the run, for texts
    def initialize(evidence, since = 0.0)
      @evidence = evidence
      @since = since
      @timeline = Timeline.new(evidence)
      @deadlines = Deadlines.new(evidence)
      @counts = Hash.new(0)
    end

    # @return [Integer] writes whose bytes may have arrived after their call had ended
    def late_writes
      @timeline.writes.each_value.count { |write| write.late > write.ended }
    end

    # @return [Array<Finding>]
    def findings
      @findings ||= @evidence.operations.select(&:ended).sort_by(&:ended).flat_map { |one| of_operation(one) }
    end

    # @return [Array<String>] the first findings of each rule, and how many there are
    def texts
      findings.group_by(&:rule).flat_map do |rule, list|
        ["#{rule}: #{list.size} findings, the first of them:", *list.first(TOLD).map { |one| "  #{one.text}" }]
      end
    end

    private

    def of_operation(operation)
      @counts[:operations] += 1 unless operation.kind == :stats
      reads = operation.found.flat_map { |name, found| of_read(operation, name, found) }
      [*raised(operation), *late(operation), *reads]
    end

    def raised(operation)
      return [] unless operation.raised?

      [finding(:raises, operation, "#{call(operation)} #{operation.result}")]
    end

    def late(operation)
      overrun = @deadlines.overrun(operation) or return []
      [finding(:deadline, operation, format("%s took %.2f s, %.2f s more than it may", call(operation),
                                            operation.seconds, overrun))]
    end

    def of_read(operation, name, found)
      @counts[found.nil? ? :misses : :values] += 1
      return [] if found.nil?

      wrong = foreign(operation, name, found)
      return [finding(:foreign, operation, "#{call(operation, name)} read #{wrong}")] if wrong

      write = @timeline.writes.fetch(found.last)
      [*own(operation, name, write), *age(operation, name, write)]
    end

    def foreign(operation, name, found)
      return "a value that no process has written: #{found}" unless found.is_a?(Array)

      domain, of, version = found
      write = @timeline.writes[version]
      return "version #{version} of #{of} of #{domain}" if domain != Timeline.domain_of(operation) || of != name
      return "version #{version}, which was never written" unless write && [write.domain, write.name] == [domain, of]

      "version #{version}, which was written later" if write.began > operation.ended
    end

    def own(operation, name, write)
      changes = @timeline.changes_by(operation.machine, write.domain, name)
      here = operation.machine == write.machine
      allowed = @timeline.intervals(write).any? do |one|
        visible?(one, operation, write) &&
          changes.ended_since(here ? one.bound_here : one.bound) > operation.began
      end
      return [] if allowed

      [finding(:own, operation, "#{call(operation, name)} read #{told(write)}, which this machine had deleted or " \
                                "replaced")]
    end

    def age(operation, name, write)
      life = Setting::CONFIGURATIONS.fetch(operation.configuration).life or return []
      latest = @timeline.intervals(write).select { |one| visible?(one, operation, write) }.map(&:ends).max
      return [] if latest && latest + life + EPSILON >= operation.began

      ago = latest ? format("%.2f s", operation.began - latest) : "a server's life"
      [finding(:age, operation, "#{call(operation, name)} read #{told(write)}, which was replaced, deleted or lost " \
                                "#{ago} before, with local_expires_in: #{life}")]
    end

    def visible?(interval, operation, write)
      interval.starts <= operation.ended && (!interval.own || operation.machine == write.machine)
    end

    def finding(rule, operation, text)
      Finding.new(rule, text, operation.began)
    end

    def call(operation, name = operation.names.first)
      format("%.3f s: %s: %s(%s)", operation.began - @since, operation.process, operation.kind, name.to_s[0, 20]) +
        (operation.configuration == Setting::USUAL ? "" : " with #{operation.configuration}")
    end

    def told(write)
      format("version %s of %.3f to %.3f s", write.version, write.began - @since, write.ended - @since)
    end
  end
end
