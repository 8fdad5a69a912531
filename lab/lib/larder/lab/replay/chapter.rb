# frozen_string_literal: true

# Adds to a chapter of a suite: hits, computing that they saved, memory, and the size that the cache needs.

require "stringio"
require_relative "../hitratio/formats"
require_relative "../hitratio/replay"
require_relative "../replay"
require_relative "../suite_report/chapter"

module Larder
  module Lab
    module Replay
      # The chapter of a recording that was replayed.
      class Chapter < SuiteReport::Chapter
        # Sizes of the curve in MB: each is twice the one before, until all fits.
        SIZES = Array.new(12) { |power| 4 << power }.freeze
        POLICIES = %w[larder lru belady].freeze
        # Misses that a smaller cache may have more than the largest, of all reads.
        NEAR = 0.005
        NOTE = "Saved: the recorded time of computing the values that were hits. Memory: of a private server after " \
               "the blocks, or of the files on the disk; a store inside the process has neither."
        private_constant :SIZES, :POLICIES, :NEAR, :NOTE

        # @return [Document::Chapter] with misses by size among its details
        def to_chapter
          super.tap { |chapter| chapter.title = "#{chapter.title}: #{recording.name}" }
        end

        private

        def recording
          Replay.script.recording
        end

        def facts
          counts = [recording.requests, recording.calls].map { |all| Figures.thousands(all.size) }
          mean = recording.requests.sum(&:seconds) / recording.requests.size
          ["#{counts.first} requests with #{counts.last} calls in #{Figures.duration(recording.seconds)}",
           "a request took #{Figures.duration(mean)} in the mean", *super]
        end

        def warnings
          [*recording.warnings, *super]
        end

        def conclusions
          [*super, suiting].compact
        end

        def sections
          return super unless @findings.base

          first, *others = super
          [first, section("Hits, computing, memory", counts, headline: true),
           section("Misses by size of the cache", *sizes, headline: true), *others,
           section("Keyspaces", spaces, folded: true)]
        end

        def counts
          columns = [{ title: "" }, { title: "hits", format: "share" }, { title: "saved a request", format: "seconds" },
                     { title: "median, on time", format: "seconds", optional: 1 },
                     { title: "99 %, on time", format: "seconds", optional: 1 }, { title: "memory", format: "bytes" }]
          fast = @plan.suite.fetch("fast")
          measured = @findings.rows.select { |row| @findings.figure(row, fast, "reads") }
          rows = measured.map { |row| [row, *cells(row, fast)] }
          Document::Table.build(columns: columns, notes: [NOTE],
                                rows: [["recorded", recorded_hits, recorded_saved, nil, nil, nil], *rows])
        end

        def cells(row, fast)
          hits, reads, saved, disk = %w[hits reads saved disk].map { |name| @findings.figure(row, fast, name) }
          timed = @plan.suite.fetch("timed")
          [hits.fdiv(reads), saved / recording.requests.size,
           *%w[median p99].map { |name| @findings.figure(row, timed, name) },
           @conductor.recorded[row].dig("memory", "after")&.first || disk]
        end

        def recorded_hits
          recording.reads.count { |_, hit| hit }.fdiv(recording.reads.size)
        end

        def recorded_saved
          recording.reads.sum { |item, hit| hit ? item.compute : 0.0 } / recording.requests.size
        end

        def curve
          @curve ||= begin
            trace = Hitratio::Formats.trace_of(recording)
            sizes = SIZES.map { |megabytes| Hitratio::Size.parse("#{megabytes}MB") }
            enough = sizes.find_index { |size| size.bytes_of(0) >= 2 * trace.footprint } || -1
            progress = Progress.new(CLI::Terminal.new(StringIO.new)) # seconds, at most
            Hitratio::Replay.new(sizes: sizes[0..enough], policies: POLICIES, progress: progress).run([trace])
          end
        end

        def sizes
          series = POLICIES.map do |policy|
            points = curve.map { |row| [row.capacity, row.miss_ratio(policy)] }
            { label: policy, highlight: policy == "larder", points: points }
          end
          policies = POLICIES.map { |policy| { title: policy, format: "share" } }
          rows = curve.map { |row| [row.capacity, *POLICIES.map { |policy| row.miss_ratio(policy) }] }
          table = Document::Table.build(columns: [{ title: "size", format: "bytes" }, *policies], rows: rows)
          return [table] if curve.size < 2

          [table, Document::Curves.build(title: "Misses by size of the cache", sentence: suiting, series: series,
                                         x: { title: "size of the cache", scale: "log", format: "bytes" },
                                         y: { title: "misses, of all reads", format: "share" })]
        end

        def suiting
          least = curve.last.miss_ratio("larder")
          row = curve.find { |each| each.miss_ratio("larder") <= least + NEAR }
          misses = Figures.percent(row.miss_ratio("larder"))
          "#{Reports::Cells.text(row.capacity, "bytes")} suit this recording: #{misses} of reads miss in Larder, and " \
            "#{Figures.percent(least)} with any room. Longer recordings need more."
        end

        def spaces
          rows = recording.reads.group_by { |item, _| item.space }.map do |space, reads|
            items = reads.map(&:first).uniq(&:object_id)
            [space, reads.size, reads.count(&:last).fdiv(reads.size), items.size, items.sum(&:size) / items.size,
             items.sum(&:compute) / items.size]
          end
          Document::Table.build(columns: [{ title: "keyspace" }, { title: "reads", format: "integer" },
                                          { title: "hits", format: "share" }, { title: "keys", format: "integer" },
                                          { title: "mean size", format: "bytes" },
                                          { title: "mean computation", format: "seconds" }],
                                rows: rows.sort_by { |row| -row[1] }.first(20))
        end
      end
    end
  end
end
