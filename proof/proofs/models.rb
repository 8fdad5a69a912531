# frozen_string_literal: true

require_relative "../support/base"
require_relative "../support/spin_model"

module Proof
  # Has spin go through every state of the models in engine/model/ and proof/models/, and of each of their mutations
  # until it finds what is wrong there.
  class Models < Base
    NAME = "models"
    TITLE = "No order of steps, loads and stores that C11 allows breaks a protocol, whoever dies meanwhile"
    HELP = "spin explores every state of models of the protocols, and must find what is broken in each mutation"

    DIRECTORIES = ["engine/model", "proof/models"].map { |name| File.join(ROOT, name) }.freeze
    VERIFIER = ["-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=8192", "-DMEMLIM=6000", "-w"].freeze
    ENDED_EARLY = /Search not completed|max search depth too small|out of memory|error:/
    BOUND_TOO_SMALL = /assertion violated \(count\[\d+\]<|invalid array index|VECTORSZ|depth too small/

    # @return [String, nil]
    def missing
      "spin is not installed (Debian: spin)" unless House::Environment.program?("spin")
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      DIRECTORIES.flat_map { |directory| SpinModel.all(directory) }.each do |model|
        report.count("models", 1)
        explore(report, model)
        caught = mutations_of(model).select { |mutation| catches?(report, model, mutation) }
        report.count("mutations of them, each found", caught.size)
        report.note("#{model.name}, broken on purpose and found: #{caught.map(&:text).join("; ")}")
      end
    end

    private

    # The first is the one that tells most.
    def mutations_of(model)
      quick ? model.mutations.first(1) : model.mutations
    end

    def explore(report, model)
      model.bounds(quick).each do |settings|
        output = verify(report, model, settings, quick ? "O0" : "O2")
        next if output.nil?

        unless output.include?("errors: 0") && !output.match?(ENDED_EARLY)
          report.fail("#{model.name} with #{settings.join(" ")}: #{verdict(output)}")
        end
        tell(report, model, output)
      end
    end

    def tell(report, model, output)
      states = output[/(\d+) states, stored/, 1].to_i
      report.count("states explored", states)
      report.count("transitions between them", output[/(\d+) transitions/, 1].to_i)
      report.count("of the states: #{model.name}", states)
      deepest = report.counts.find { |count| count.label == "steps of the longest run" }&.number || 0
      depth = output[/depth reached (\d+)/, 1].to_i
      report.count("steps of the longest run", [depth - deepest, 0].max)
    end

    # A mutation that spin does not find says that the model would not notice the same in the engine.
    def catches?(report, model, mutation)
      output = verify(report, model, [*mutation.settings, mutation.name], "O0")
      return false if output.nil?

      found = output[/errors: (\d+)/, 1].to_i.positive?
      return true if found && !output.match?(BOUND_TOO_SMALL)

      report.fail("#{model.name} is broken (#{mutation.text}), and spin does not find it: #{verdict(output)}")
      false
    end

    # @return [String, nil] what the verifier printed; nil where it could not be built or hung
    def verify(report, model, settings, optimize)
      title = [model.name, *settings].join(" ")
      dir = work(title.tr(" =", "--"))
      macros = settings.map { |setting| "-D#{setting}" }
      log = title.tr(" =", "--")
      run(report, ["spin", *macros, "-a", model.path], dir: dir, log: "#{log}-spin") &&
        run(report, ["cc", "-#{optimize}", *VERIFIER, "-o", "pan", "pan.c"], dir: dir, log: "#{log}-cc") &&
        run(report, ["./pan", "-m100000"], dir: dir, log: log) && last_output
    end

    def verdict(output)
      line = output.lines.find { |text| text.match?(/\Apan:\d+:|error|not completed/) }
      "#{line&.strip || "no verdict"} (see #{work("logs")})"
    end
  end
end
