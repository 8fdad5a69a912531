# frozen_string_literal: true

# A document with one block of every kind.
module SampleDocument
  D = Larder::Lab::Document

  module_function

  # @param figures [Array<Float>] samples of the one measure
  def build(figures: [1.0e-6, 1.1e-6, 1.2e-6])
    chapter = D::Chapter.new(key: "stores", title: "Stores", lead: "What was done | with *marks*.",
                             facts: ["n = 100", "seed 7"], conclusions: ["a is the fastest."],
                             warnings: ["Quick run."], sections: [D::Section.new(title: "Hits", blocks: blocks)],
                             measures: [measure(figures)], details: { "samples" => [1, 2] })
    D.new(command: "stores", chapters: [chapter], elapsed: 12.5,
          environment: { "ruby" => "ruby 3.1", "cores" => 2, "cpu" => "A CPU", "kernel" => "Linux" })
  end

  def measure(figures)
    D::Measure.new(key: "stores/hit/a", label: "a, \"hit\"", unit: "seconds", better: "lower", samples: figures)
  end

  def blocks
    [table, plot, curves, D::List.new(items: %w[one two]), D::Prose.new(text: "A paragraph."),
     D::Code.new(text: "config.cache_store = :larder_store\n", language: "ruby")]
  end

  def table
    D::Table.new(caption: "Per call", notes: ["A note."],
                   columns: [{ title: "" }, { title: "µs", format: "micros" }, { title: "times", format: "ratio" },
                             { title: "on disk", format: "bytes", optional: 1 }],
                   rows: [["a", 1.31e-6, "1", 12_300_000], ["b", 2.5e-5, interval, nil], ["c", "not measured: none"]])
  end

  def interval = { "value" => 19.1, "low" => 18.2, "high" => 20.0, "same" => false }

  def plot
    D::Table.new(columns: [{ title: "" }, { title: "µs", format: "micros", plot: "linear" }, { title: "calls" }],
                   rows: [["a", { "value" => 1.3e-6, "low" => 1.2e-6, "high" => 1.4e-6, "dots" => [1.2e-6] }, 9],
                          ["c", "not measured: none"]])
  end

  def curves
    D::Curves.new(title: "Threads", sentence: "a grows.", x: { title: "threads", format: "integer" },
                    y: { title: "calls/s", format: "integer", scale: "log" },
                    series: [{ "label" => "a", "points" => [[1, 100], [2, 190]] },
                             { "label" => "b", "points" => [[1, 50]] }])
  end
end
