# frozen_string_literal: true

require "stringio"
require_relative "../hitratio/replay"
require_relative "../replay"
require_relative "../suite_report/chapter"

module Larder
  module Lab
    module Replay
      # The chapter of the suite "replay": with what was recorded, and the size that the cache needs.
      class Chapter < SuiteReport::Chapter
        # Sizes of the curve in MB: each is twice the one before, until all fits.
        SIZES = Array.new(12) { |power| 4 << power }.freeze
        POLICIES = %w[larder lru belady].freeze
        # Misses that a smaller cache may have more than the largest, of all reads.
        NEAR = 0.005
        SIZED = "Misses by size of the cache"
        NOTE = "The misses are of reads of values that the application stores, by room alone: no entry expires or is " \
               "deleted, so a replay can have more misses."

        def initialize(*, **)
          super
          @recording = Replay.recording
        end

        def to_chapter = super.tap { |chapter| chapter.title = "#{chapter.title}: #{@recording.name}" }

        private

        def facts
          counts = [@recording.requests, @recording.calls].map { |all| Figures.thousands(all.size) }
          mean = @recording.requests.sum(&:seconds) / @recording.requests.size
          ["#{counts.first} requests with #{counts.last} calls in #{Figures.duration(@recording.seconds)}",
           "a request took #{Figures.duration(mean)} in the mean", *super]
        end

        def warnings = [*@recording.warnings, *super]

        def conclusions = [*super, recorded, suiting]

        def sections = [section(SIZED, *misses), *super, section("Keyspaces", keyspaces, folded: true)]

        def recorded
          hits = @recording.reads.select(&:last)
          saved = hits.sum { |item, _| item.compute } / @recording.requests.size
          "As recorded, #{Figures.percent(hits.size.fdiv(@recording.reads.size))} of reads were hits, which saved " \
            "#{Figures.duration(saved)} of computing a request."
        end

        def curve
          @curve ||= begin
            trace = Replay.trace
            sizes = SIZES.map { |megabytes| Hitratio::Size.parse("#{megabytes}MB") }
            enough = sizes.find_index { |size| size.bytes_of(0) >= 2 * trace.footprint } || -1
            progress = Progress.new(StringIO.new) # seconds, at most
            Hitratio::Replay.new(sizes: sizes[0..enough], policies: POLICIES, progress: progress).run([trace])
          end
        end

        def misses
          rows = curve.map { |row| [row.capacity, *POLICIES.map { |policy| row.miss_ratio(policy) }] }
          table = Document::Table.new(columns: [["size", "bytes"], *POLICIES.product(["share"])], rows: rows,
                                      notes: [*(NOTE if curve.one?)])
          return [table] if curve.one?

          series = POLICIES.each.with_index(1).map do |policy, at|
            { "label" => policy, "points" => rows.map { |row| row.values_at(0, at) } }
          end
          [table, Document::Curves.new(title: SIZED, sentence: NOTE, series: series,
                                         x: { title: "size of the cache", scale: "log", format: "bytes" },
                                         y: { title: "misses, of all reads", format: "share" })]
        end

        def suiting
          least = curve.last.miss_ratio("larder")
          row = curve.find { |each| each.miss_ratio("larder") <= least + NEAR }
          misses = Figures.percent(row.miss_ratio("larder"))
          "#{Figures.bytes(row.capacity)} suit this recording: by room alone, without expiry and deletes, #{misses} " \
            "of reads miss in Larder, and #{Figures.percent(least)} with any room. Longer recordings need more."
        end

        def keyspaces
          rows = @recording.reads.group_by { |item, _| item.space }.map do |space, reads|
            items = reads.map(&:first).uniq(&:object_id)
            [space, reads.size, reads.count(&:last).fdiv(reads.size), items.size, items.sum(&:size) / items.size,
             items.sum(&:compute) / items.size]
          end
          columns = ["keyspace", ["reads", "integer"], ["hits", "share"], ["keys", "integer"], ["mean size", "bytes"],
                     ["mean computation", "seconds"]]
          Document::Table.new(columns: columns, rows: rows.sort_by { |row| -row[1] }.first(20))
        end
      end
    end
  end
end
