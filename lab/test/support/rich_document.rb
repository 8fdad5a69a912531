# frozen_string_literal: true

# A document as large as they come: many chapters, twelve contenders with long names, long words, many points.
module RichDocument
  D = Larder::Lab::Document

  NAMES = ["larder", "memory", "file", "redis", "redis with hiredis over a Unix socket", "valkey",
           "memcached, meta protocol", "solid_cache on SQLite", "solid_cache on PostgreSQL, tuned (unlogged)",
           "solid_cache on MariaDB", "litecache", "null"].freeze
  BASE = [1.1e-6, 1.9e-5, 3.2e-5, 4.4e-5, 3.9e-5, 4.5e-5, 3.0e-5, 2.1e-4, 3.8e-4, 4.1e-4, 2.7e-5, 6.0e-7].freeze
  PARTS = ["serialize", "compress", "Rails' cache API", "round trip", "transfer", "server", "decompress",
           "deserialize"].freeze
  MISSING = "dragonfly is not on the PATH and no --dragonfly-url was given; it is measured where it is found"

  module_function

  # @param chapters [Integer]
  def build(chapters: 1)
    D.new(command: chapters == 1 ? "stores" : "all", elapsed: 754.2, environment: environment,
          chapters: (1..chapters).map { |number| chapter(number) })
  end

  def environment
    { "ruby" => "ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]", "cores" => 2,
      "cpu" => "Intel(R) Xeon(R) Processor @ 2.10GHz", "kernel" => "Linux 6.1.0-18-amd64 x86_64", "governor" => nil,
      "memory_bytes" => 8_245_678_080, "file_system" => "overlay", "load_average" => 0.12,
      "time" => "2026-03-04T12:30:00Z", "versions" => { "redis" => "5.2.0", "dalli" => "3.2.8", "rails" => "7.2.2" } }
  end

  def chapter(number)
    D::Chapter.new(key: "stores", title: "Cache stores through Rails’ API, number #{number}", failed: number == 2,
                   failures: (number == 2 ? ["file, read of a fragment: a wrong value"] : []),
                   lead: "`Rails.cache.fetch([\"key\", i], expires_in: 5.minutes) { \"Hello World!\" }`, first into " \
                         "an empty store, then from a full one; <b>everything</b> & more.",
                   facts: ["n = 10,000", "5 rounds", "blocks of 1 s or more", "seed 7"], conclusions: conclusions,
                   warnings: ["Other processes kept 0.9 of 2 cores busy: intervals may be too narrow.",
                              "p99.99 rests on 4 samples."],
                   sections: sections)
  end

  def conclusions
    ["Larder’s hit takes 1.10 µs (1.05–1.14): 17.3 times (16.8–18.0) as fast as the memory store’s, the next fastest " \
     "that keeps values.",
     "Between redis and valkey no difference is shown: 1.02 (0.97–1.06).",
     "Every store kept what it was given: 1,200,000 values were read back and compared."]
  end

  def sections
    [D::Section.new(title: "One thread", blocks: [timings, table]),
     D::Section.new(title: "Against Larder", blocks: [ratios]),
     D::Section.new(title: "Percentiles", blocks: [percentiles]),
     D::Section.new(title: "Threads", blocks: [scaling]),
     D::Section.new(title: "Hit ratios", blocks: [hit_ratios]),
     D::Section.new(title: "Where the time goes", blocks: [breakdown, code])]
  end

  def timings
    rows = NAMES.zip(BASE).map { |name, base| row(name, base) }
    D::Intervals.build(title: "Reading what is there: time per call",
                       rows: [*rows, { label: "dragonfly", note: MISSING }],
                       sentence: "Larder’s 1.10 µs is 17 times less than the memory store’s; the five that speak to " \
                                 "a server lie between 30 and 45 µs.",
                       x: { title: "time per call", scale: "log", format: "seconds" })
  end

  def row(name, base)
    dots = Array.new(9) { |index| base * (0.93 + (((index * 7) % 9) / 60.0)) }
    { label: name, value: base, low: dots.min * 1.02, high: dots.max * 0.98, dots: dots, highlight: name == "larder" }
  end

  def ratios
    rows = NAMES.drop(1).first(5).each_with_index.map do |name, at|
      { label: name, value: 0.96 + (at * 0.03), low: 0.94 + (at * 0.025), high: 1.0 + (at * 0.034) }
    end
    D::Intervals.build(title: "Times as long as redis", rows: rows, reference: 1.0,
                       sentence: "Those whose line crosses 1 show no difference.",
                       x: { title: "times as long as redis", format: "times" })
  end

  def table
    columns = [{ title: "" }, { title: "µs/call", format: "micros" }, { title: "calls/s", format: "rate" },
               { title: "times larder", format: "ratio" }, { title: "on disk", format: "bytes", optional: 1 },
               { title: "survives a restart", format: "flag", optional: 2 }]
    rows = NAMES.zip(BASE).map do |name, base|
      ratio = base / BASE[0]
      interval = { value: ratio, low: ratio * 0.97, high: ratio * 1.04, same: name == "file" }
      [name, base, base, name == "larder" ? "1" : interval, name == "memory" ? nil : base * 1e12, name != "memory"]
    end
    D::Table.build(caption: "One thread, hits", columns: columns,
                   rows: [*rows, ["dragonfly", "not measured: #{MISSING}"]],
                   notes: ["Medians of 5 rounds; ratios within rounds. ≈: no difference is shown."])
  end

  def percentiles
    at = (1..400).map { |step| 1.0 - (10.0**(-step / 100.0)) }
    series = NAMES.first(8).zip(BASE).map do |name, base|
      { label: name, points: at.map { |share| [share, base * (1 - (Math.log(1 - share) * 0.35))] } }
    end
    D::Curves.build(title: "Time of a read, by percentile",
                    sentence: "Larder’s p99.9 is 3.8 µs, below every other’s median.",
                    x: { title: "share of calls that took no longer", scale: "percentile", format: "percentile" },
                    y: { title: "time of a call", scale: "log", format: "seconds" }, series: series)
  end

  def scaling
    series = NAMES.zip(BASE).map do |name, base|
      { label: name, points: [1, 2, 4, 8, 16].map { |threads| [threads, (1 / base) * (threads**0.3)] } }
    end
    D::Curves.build(title: "Reads per second, by threads", sentence: "All grow by less than the number of threads.",
                    x: { title: "threads", scale: "log", format: "integer" },
                    y: { title: "reads per second", scale: "log", format: "integer" }, series: series)
  end

  def hit_ratios
    series = ["larder", "LRU", "FIFO", "S3-FIFO", "W-TinyLFU", "Belady"].each_with_index.map do |name, at|
      { label: name, highlight: name == "larder",
        points: [0.01, 0.05, 0.1, 0.2, 0.4].map do |size|
          [size * 1e9, 0.1 + ((at + 3) * 0.055) + (Math.log10(size * 100) * 0.2)]
        end }
    end
    D::Curves.build(title: "cloudPhysicsIO: hits, by the size of the cache", series: series,
                    sentence: "Larder hits 24 % of requests at 10 MB, LRU 31 %.",
                    y: { title: "hits", format: "percent" },
                    x: { title: "size of the cache", format: "bytes" })
  end

  def breakdown
    rows = NAMES.first(8).each_with_index.map do |name, at|
      { label: name, values: PARTS.each_index.map { |part| at.zero? && part == 3 ? nil : ((part * at) % 5) * 1e-4 } }
    end
    D::Stacked.build(title: "A read of 1 MB, step by step",
                     rows: [*rows, { label: "dragonfly", values: [], note: MISSING }],
                     sentence: "Of 2.1 ms with redis, 0.8 ms are the transfer.",
                     parts: PARTS, x: { title: "time of a read", format: "millis" })
  end

  def code
    D::Code.new(language: "ruby", text: <<~RUBY)
      config.cache_store = :larder_store, "tmp/cache/larder", { size: 256.megabytes, serializer: :native, compressor: :zstd }
    RUBY
  end
end
