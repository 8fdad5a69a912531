# frozen_string_literal: true

# A document with blocks of every kind, which fills a page: twelve contenders with long names, long words, many points.
module SampleDocument
  D = Larder::Lab::Document

  NAMES = ["larder", "memory", "file", "redis", "redis with hiredis over a Unix socket", "valkey",
           "memcached, meta protocol", "solid_cache on SQLite", "solid_cache on PostgreSQL, tuned (unlogged)",
           "solid_cache on MariaDB", "litecache", "null"].freeze
  BASE = [1.1e-6, 1.9e-5, 3.2e-5, 4.4e-5, 3.9e-5, 4.5e-5, 3.0e-5, 2.1e-4, 3.8e-4, 4.1e-4, 2.7e-5, 6.0e-7].freeze
  MISSING = "dragonfly is not on the PATH and no --url dragonfly=URL was given; it is measured where it is found"

  module_function

  # @param figures [Array<Float>] samples of the one measure
  def build(chapters: 1, figures: [1.0e-6, 1.1e-6, 1.2e-6])
    D.new(command: "stores", elapsed_seconds: 754.2, environment: environment,
          chapters: (1..chapters).map { |number| chapter(number, figures) })
  end

  def environment
    { "ruby" => "ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]", "cores" => 2,
      "cpu" => "Intel(R) Xeon(R) Processor @ 2.10GHz", "kernel" => "Linux 6.1.0-18-amd64 x86_64", "governor" => nil,
      "memory_bytes" => 8_245_678_080, "time" => "2026-03-04T12:30:00Z" }
  end

  def chapter(number, figures)
    measure = { key: "stores/hit/a", label: "a, \"hit\"", unit: "seconds", better: "lower", samples: figures }
    D::Chapter.new(key: "stores", title: number == 1 ? "Stores" : "Stores, number #{number}", failed: number == 2,
                   lead: "It was done | with *marks*, <b>all</b> & `Rails.cache.fetch([\"key\", i]) { \"Hello!\" }`.",
                   facts: ["n = 10,000", "5 sessions", "seed 7"],
                   conclusions: ["Larder’s hit takes 1.10 µs (1.05–1.14): 17.3 times (16.8–18.0) as fast as others’."],
                   warnings: ["Other processes kept 0.9 of 2 cores busy: intervals may be too narrow."],
                   sections: [D::Section.new(title: "Hits", blocks: blocks)],
                   measures: [measure], details: { "samples" => [1, 2] })
  end

  def blocks
    [table, plot, curves, D::List.new(items: %w[one two]), D::Prose.new(text: "A paragraph."),
     D::Code.new(text: "config.cache_store = :larder_store, \"tmp/cache/larder\", { serializer: :native }\n")]
  end

  def table
    interval = { "value" => 19.1, "low" => 18.2, "high" => 20.0, "same" => false }
    D::Table.new(caption: "Per call", notes: ["A note."],
                 columns: ["", %w[µs micros], %w[times ratio], { title: "on disk", format: "bytes" }],
                 rows: [["a", 1.31e-6, "1", 12_300_000], ["b", 2.5e-5, interval, nil], ["c", "not measured: none"]])
  end

  def plot
    rows = NAMES.zip(BASE).map do |name, base|
      dots = Array.new(9) { |index| base * (0.93 + (((index * 7) % 9) / 60.0)) }
      [name, { "value" => base, "low" => dots.min * 1.02, "high" => dots.max * 0.98, "dots" => dots }, base * 3]
    end
    D::Table.new(caption: "Reading what is there", rows: [*rows, ["dragonfly", MISSING]],
                 columns: ["", { title: "time per call", format: "seconds", plot: "log" }, ["per write", "seconds"]])
  end

  def curves
    at = (1..13).map { |step| 1.0 - (10.0**(-step / 3.0)) }
    series = NAMES.zip(BASE).map do |name, base|
      { "label" => name, "points" => at.map { |share| [share, base * (1 - (Math.log(1 - share) * 0.35))] } }
    end
    D::Curves.new(title: "Time of a read", sentence: "Larder’s p99.9 is 3.8 µs.", series: series,
                  x: { title: "share of calls that took no longer", scale: "percentile", format: "percentile" },
                  y: { title: "time of a call", scale: "log", format: "seconds" })
  end
end
