# frozen_string_literal: true

require_relative "../wire"
require_relative "base"

module Larder
  module Lab
    module Trials
      module Chapters
        # `larder-lab compressors`: both directions, and the wires on which each pays.
        class Compressors < Base
          KEY = "compressors"
          TITLE = "Compressors"
          LEAD = "Bytes to fewer bytes and back. Published were sizes and compressing alone; here it is both " \
                 "directions, on near-random and on natural text, and up to which speed of a wire each pays."
          OPERATIONS = ["compress", "decompress", "round trip"].freeze
          # Bits a second at the ends of the chart of wires, as powers of ten.
          WIRES = (6..11)
          BASE = "zstd-3"

          private

          def group_section(group, comparison)
            raw = @results.size(comparison.base, group).raw
            section("#{@plan.titles.fetch(group)} (#{Figures.thousands(raw)} bytes)", table(group, comparison),
                    round_trips(group, comparison), wires(group, comparison))
          end

          def to_sections
            groups.flat_map { |group| [group_section(group, @comparisons[group]), (published if group == "books")] }
                  .compact
          end

          def table(group, comparison)
            columns = [{ title: "" }, { title: "bytes", format: "integer" },
                       { title: "smaller", format: "times", optional: 2 },
                       { title: "compress i/s", format: "rate" }, { title: "decompress i/s", format: "rate" },
                       { title: "round trip i/s", format: "rate", optional: 3 },
                       { title: "times #{comparison.base}", format: "ratio" },
                       { title: "pays up to", format: "bits", optional: 1 },
                       { title: "cold ms", format: "millis", optional: 4 }]
            cells = rows(group, "round trip") { |name| cells(name, group, comparison) }
            Document::Table.build(columns: columns, rows: cells)
          end

          # Of no compression, the time beside others' says nothing.
          def cells(name, group, comparison)
            size = @results.size(name, group)
            none = name == "none"
            [size.bytes, size.raw.fdiv(size.bytes), *OPERATIONS.map { |operation| comparison.median(name, operation) },
             none ? nil : comparison.cell(name, "round trip"), comparison.pays_below(name), cold(name, comparison)]
          end

          def cold(name, comparison)
            ["cold compress", "cold decompress"].sum { |operation| comparison.median(name, operation) || 0.0 }
          end

          def round_trips(group, comparison)
            packing = comparison.ranking("round trip") - ["none"]
            return if packing.empty?

            Document::Intervals.build(
              title: "There and back: #{group}", x: { title: "time of a round trip", scale: "log", format: "seconds" },
              rows: dots(group, "round trip", ours: nil).reject { |row| row[:label] == "none" },
              sentence: "Compressing and decompressing takes from #{timed(packing.first, comparison)} to " \
                        "#{timed(packing.last, comparison)}."
            )
          end

          def timed(name, comparison)
            "#{time(comparison.median(name, "round trip"))} (#{name})"
          end

          def wires(group, comparison)
            lines = lines(group, comparison)
            bandwidths = (WIRES.first * STEPS..WIRES.last * STEPS).map { |step| 10.0**step.fdiv(STEPS) }
            Document::Curves.build(
              title: "Until it has arrived: #{group}", sentence: limits(comparison),
              x: { title: "speed of the wire", scale: "log", format: "bits" },
              y: { title: "compress, send, decompress", scale: "log", format: "seconds" },
              series: lines.map { |line| { label: line.name, points: bandwidths.map { |each| [each, line.at(each)] } } }
            )
          end

          def lines(group, comparison)
            comparison.ranking("round trip").map do |name|
              Wire::Line.new(name: name, seconds: name == "none" ? 0.0 : comparison.work(name),
                             bytes: @results.size(name, group).bytes)
            end
          end

          def limits(comparison)
            pays = comparison.ranking("round trip").filter_map do |name|
              limit = comparison.pays_below(name)
              "#{name} up to #{Figures.bits(limit)}" if limit
            end
            return "Nothing pays on any wire." if pays.empty?

            "Compressing, sending and decompressing beats sending what there is: #{pays.join(", ")}."
          end

          def conclusions
            groups.map { |group| on_wires(group, @comparisons[group]) }
          end

          def on_wires(group, comparison)
            wire = Wire.new(lines(group, comparison))
            "On a wire, #{group}: #{reaches(wire)}."
          end

          # "zstd-3 is the fastest up to 600 Mbit/s, snappy from there to 2 Gbit/s, none above; never lz4"
          def reaches(wire)
            first, *others = wire.reaches
            words = [first.to ? "#{first.name} is the fastest up to #{Figures.bits(first.to)}" : "always #{first.name}"]
            others.each { |reach| words << "#{reach.name} #{reach.to ? "to #{Figures.bits(reach.to)}" : "above"}" }
            "#{words.join(", ")}#{"; never #{enumerated(wire.never)}" if wire.never.any?}"
          end

          # REFERENCE and here: sizes, and compressing alone.
          def published
            comparison = @comparisons["books"]
            known = Published::COMPRESSORS.select { |name, _| comparison.median(name, "compress") }
            return if known.empty?

            base = known.key?(BASE) ? BASE : (known.keys - ["none"]).first
            section("Beside the published figures (#{Published::SOURCE})",
                    Document::Table.build(columns: published_columns(base), notes: [brotli_note(known)].compact,
                                          rows: known.map { |name, facts| beside(name, facts, comparison, base) }),
                    Document::Prose.new(text: published_wires))
          end

          def published_columns(base)
            [{ title: "" }, *pair("bytes", "integer", "integer", 2), *pair("smaller", "times", "times", 1),
             *pair("compress i/s", "number", "rate"), *pair("times #{base}", "ratio", "ratio")]
          end

          def beside(name, (title, bytes, rate), comparison, base)
            size = @results.size(name, "books")
            their_base = base && Published::COMPRESSORS.fetch(base).last
            [title, bytes, size.bytes, bytes && Published::RAW_BYTES.fdiv(bytes), size.raw.fdiv(size.bytes), rate,
             rate && comparison.median(name, "compress"), rate && their_base && (their_base / rate),
             rate && base && comparison.cell(name, "compress", base)]
          end

          def brotli_note(known)
            "The article does not say Brotli's quality; here it is 5. At 11, its default, a megabyte takes seconds." if
              known.key?("brotli-5")
          end

          # As the article's reader would: compressing alone, for decompressing was not measured there.
          def published_wires
            there = Published::COMPRESSORS.filter_map do |name, (title, bytes, rate)|
              next unless bytes && (rate || name == "none")

              Wire::Line.new(name: title, bytes: bytes, seconds: rate ? 1.0 / rate : 0.0)
            end
            "From the published figures, which are of compressing alone: #{reaches(Wire.new(there))}."
          end
        end
      end
    end
  end
end
