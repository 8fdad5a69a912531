# frozen_string_literal: true

# Chapters and documents of runs that were simulated.
module SimulatedRuns
  L = Larder::Lab
  # Tens of microseconds that a read takes, and what the rest of a page does.
  READS = { "larder" => 0.2, "memory" => 0.7, "file" => 2.2, "litecache" => 1.6, "redis" => 4.4, "memcached" => 3.7,
            "solid_cache" => 11.0, "larder-redis" => 0.25, "null" => 0.1 }.freeze
  REST = 17.0

  module_function

  # @param factors [Hash{String=>Float}] see {SimulatedTurns}
  # @param how [Hash] more of {SimulatedTurns}, and of {Larder::Lab::SuiteReport::Run}
  def chapter(factors, suite: "applications", rows: factors.keys, blocks: nil, busy: 0.1, base: nil, seed: 4, **how)
    run = L::SuiteReport::Run.new(**how.extract!(:absent, :skipped, :recorded))
    suite = L::Suites.fetch(suite)
    blocks ||= suite.blocks.map(&:key)
    plan = L::Bench::Plan.new(suite: suite, rows: rows, blocks: blocks.map { |key| suite.fetch(key) }, seed: 1)
    samples = SimulatedTurns.new(factors, seed: seed, blocks: blocks, **how).samples
    type = suite.chapter&.call || L::SuiteReport::Chapter
    type.new(run, plan, samples, base: base, environment: { busy_processors: busy, cores: 2 }).to_chapter
  end

  # @param reads [Hash{String=>Float}] see READS
  # @return [Larder::Lab::Document::Chapter] of pages that make ten such reads each
  def pages(reads = READS, **how)
    slowed = reads.to_h { |row, read| [[row, "page"], (REST + (10 * read)) / read] }
    chapter(reads, slowed: slowed, **how)
  end

  # @return [Larder::Lab::Document] as `overview` makes it
  def overview(**how)
    absent = { "dragonfly" => L::Bench::Absence.new(state: :unavailable, reason: "it is not on the PATH") }
    rows = [*READS.keys, "dragonfly"]
    chapters = [pages(rows: rows, absent: absent, **how),
                chapter(READS.except("larder-redis"), suite: "published-a", rows: rows, absent: absent, **how)]
    document(*chapters)
  end

  # @param chapters [Array<Larder::Lab::Document::Chapter>]
  # @return [Larder::Lab::Document]
  def document(*chapters)
    L::Document.new(command: "overview", chapters: chapters, elapsed_seconds: 301.0,
                    command_line: "larder-lab overview --quick --seed 7",
                    environment: { "cpu" => "Intel(R) Xeon(R) Processor @ 2.10GHz", "cores" => 2, "yjit" => "on",
                                   "ruby" => "ruby 3.4.1", "time" => "2026-03-04T12:30:00Z" })
  end
end
