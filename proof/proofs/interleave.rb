# frozen_string_literal: true

require_relative "../support/base"
require_relative "../support/mutations"

module Proof
  # Runs the engine's own code under a scheduler that tries the interleavings of a few operations one after the other.
  class Interleave < Base
    NAME = "interleave"
    TITLE = "However the loads and stores of processes fall, their answers could be given one after the other"
    HELP = "all interleavings of a few operations of the engine's own code, and deaths among them"

    # Memory model, whether without checksums, preemptions at most, states remembered, executions by chance.
    Round = Struct.new(:memory, :blind, :preemptions, :states, :chance)
    QUICK = [Round.new("sc", false, 1, 6_000, 0), Round.new("tso", true, 1, 6_000, 0)].freeze
    FULL = [
      Round.new("sc", false, 2, 10_000, 1000),
      Round.new("sc", true, 3, 20_000, 1000),
      Round.new("tso", true, 2, 20_000, 1000),
      Round.new("weak", true, 1, 20_000, 1000)
    ].freeze

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      return unless make(report, "#{shared_build}/interleave/interleave")

      (quick ? QUICK : FULL).each { |round| explore(report, round) }
      mutations(report)
    end

    private

    def explore(report, round)
      options = ["--memory", round.memory, "--preemptions", round.preemptions, "--states", round.states,
                 "--chance", round.chance]
      options << "--blind" if round.blind
      options << "--unbounded" if !quick && round.memory == "sc" && round.blind
      run(report, ["#{shared_build}/interleave/interleave", *options.map(&:to_s)],
          log: "#{round.memory}#{" blind" if round.blind}")
    end

    # The proof of the proof: with a step of a protocol left out, a wrong execution has to be found.
    def mutations(report)
      chosen = quick ? Mutations::LIST.select(&:quick) : Mutations::LIST
      caught = chosen.count { |mutation| caught?(report, mutation) }
      report.count("changed engines, each with a step of a protocol left out, of which a wrong execution was found",
                   caught)
    end

    def caught?(report, mutation)
      path = mutation.write(ROOT, work("mutants"))
      unless path
        report.fail("#{mutation.name}: #{mutation.file} has changed, and this does not fit it any more")
        return false
      end
      source = mutation.file.delete_suffix(".c")
      return false unless make(report, "interleave-mutant", variables: { "MUTANT" => path, "SOURCE" => source })

      options = ["--blind", "--quiet", "--only", mutation.scenario, "--preemptions", mutation.preemptions.to_s,
                 "--memory", mutation.memory]
      ended_well = run(report, ["#{path}.program", *options], log: "mutant #{mutation.name}", quietly_fails: true)
      found = !ended_well && last_output.match?(/^FAILED: /)
      report.fail("#{mutation.name}: no wrong execution was found") unless found
      found
    end
  end
end
