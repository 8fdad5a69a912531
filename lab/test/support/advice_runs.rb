# frozen_string_literal: true

# Runs of the suite `matrix` whose times are known: those of a store and of the codecs, added up.
module AdviceRuns
  L = Larder::Lab
  # Microseconds of a read and a write.
  STORES = { "larder" => [5, 10], "memory" => [8, 8], "file" => [200, 300], "solid_cache" => [400, 900],
             "redis" => [90, 100], "memcached" => [95, 110] }.freeze
  SERVERS = STORES.slice("larder", "redis", "memcached").freeze
  # Microseconds to bring a value back and to encode it, and its bytes.
  CODECS = { %w[default default] => [150, 400, 2800], %w[native none] => [40, 50, 9000],
             %w[native zstd-3] => [60, 110, 2700], %w[marshal none] => [90, 100, 10_000] }.freeze
  # Those of Larder and of memory as they come.
  OWN = [30, 40, 9000].freeze

  module_function

  # @param noise [Float] by how much processes and turns differ
  def run(stores: STORES, codecs: CODECS, sessions: 6, noise: 0.001)
    suite = L::Suites.fetch("matrix")
    blocks = suite.blocks.select { |block| codecs.key?(block.axes.values) && block.key !~ /bytes|given/ }
    plan = L::Bench::Plan.new(suite: suite, rows: stores.keys, blocks: blocks, seed: 1)
    recorded = stores.to_h { |row, _| [row, { "versions" => {}, "figures" => {} }] }
    tens = stores.keys.product(blocks).to_h do |row, block|
      read, write, bytes = codec(codecs, row, block)
      recorded[row]["figures"][block.key] = { "bytes" => [bytes] }
      [[row, block.key], (block.heading == "read" ? read + stores[row].first : write + stores[row].last) / 10.0]
    end
    turns = SimulatedTurns.new(stores.transform_values { 1.0 }, seed: 3, blocks: blocks.map(&:key), sessions: sessions,
                               passes: 4, slowed: tens, turn: noise, pass: 0, process: 0, disturbed: 0)
    [L::SuiteReport::Run.new(recorded: recorded), plan, turns.samples]
  end

  # @param answers [Hash{Symbol=>String}] of a {Larder::Lab::Advice::Question}
  def ranking(answers = {}, **how)
    run, plan, samples = run(**how)
    findings = L::SuiteReport::Findings.new(plan, samples, run)
    L::Advice::Ranking.new(question(answers), L::Advice::Model.new(plan, samples, findings))
  end

  def chapter(answers = {}, **how)
    L::Advice::Chapter.new(*run(**how), question: question(answers), environment: {}).to_chapter
  end

  def question(answers) = L::Advice::Question.new({ memory: "8gb", **answers })

  def codec(codecs, row, block)
    block.axes.values.include?("default") && %w[larder memory].include?(row) ? OWN : codecs[block.axes.values]
  end
end
