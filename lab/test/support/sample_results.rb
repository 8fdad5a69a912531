# frozen_string_literal: true

# Results made by hand, so that what follows from them is known.
module SampleResults
  module_function

  # @param times [Hash{String=>Array<Float>}] seconds per call of every round, by row; the same in every step
  # @param options [Hash] settings that differ from the defaults
  def build(times, **options)
    settings = Larder::Lab::Settings.new(mode: :default, count: 100, threads: 5, rounds: times.values.first.size,
                                         seed: 7, block_seconds: 1.0, contenders: times.keys, urls: {}, requires: [],
                                         workloads: ["one-thread", "threads-disjoint"], **options)
    results = Larder::Lab::Results.new(settings, { ruby: "ruby", cores: 2, load_average: 0.1 })
    times.each { |name, seconds| fill(results, name, seconds) }
    results.rounds = settings.rounds
    results.elapsed = 1.0
    results
  end

  def fill(results, name, seconds)
    results.rows << Larder::Lab::Results::Row.new(name: name, contender: name.delete_suffix(" (A/A)"),
                                                  state: :measured, versions: { "activesupport" => "7.2.0" })
    results.settings.workload_types.each do |type|
      type.passes.each do |pass|
        seconds.each_with_index { |each, round| results.add(sample(name, type, pass, each, round)) }
      end
    end
  end

  def sample(name, type, pass, per_call, round)
    Larder::Lab::Results::Sample.new(row: name, round: round + 1, position: 0, workload: type.key, pass: pass.key,
                                     seconds: per_call * 100, calls: 100, block_runs: pass.reading ? 0 : 100,
                                     clearing: 0.0, laps: 1)
  end
end
