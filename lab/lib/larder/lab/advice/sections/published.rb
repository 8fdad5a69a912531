# frozen_string_literal: true

# Builds the sections for what follows from the published figures of compressors. Measures nothing.

require_relative "../../document"
require_relative "../../published"
require_relative "wire"

module Larder
  module Lab
    module Advice
      module Sections
        # `larder-lab advise --published`.
        class Published
          # @return [Document::Chapter]
          def chapter
            Document::Chapter.new(
              key: "advise-published", title: "What the published figures of compressors imply",
              lead: "Time to compress one value and to send it = 1 / rate + 8 × bytes / bandwidth. " \
                    "Figures #{::Larder::Lab::Published.of("published-b").source}; nothing was measured here.",
              sections: [Document::Section.new(title: "Where each compressor pays", blocks: wire.blocks)],
              conclusions: conclusions
            )
          end

          # @return [Wire]
          def wire
            @wire ||= Wire.new(figures, what: "a write")
          end

          private

          def all
            @all ||= ::Larder::Lab::Published.of("published-b").tables.first.rows.values.to_h do |name, bytes, rate|
              [name, [bytes, rate]]
            end
          end

          def figures
            all.select { |_, (bytes, _)| bytes }.transform_values { |bytes, rate| [bytes, rate ? 1 / rate : 0.0] }
          end

          def conclusions
            ["Fastest to write: #{wire.sentence}.", "Never the fastest: #{wire.never.join(" and ")}.", *gzip,
             "Decompressing was not published, so this holds for writing only: `larder-lab compressors` measures both."]
          end

          # Of what has no size it is known still what it would have to beat.
          def gzip
            all.select { |_, (bytes, _)| bytes.nil? }.map do |name, (_, rate)|
              faster = all.select { |_, (bytes, other)| bytes && other && other >= rate }
              rival, (least,) = faster.min_by { |_, (bytes, _)| bytes }
              "#{name}: its size was not given. At #{rate} a second it is slower than #{rival}, so it could only pay " \
                "with less than #{Reports::Figures.thousands(least)} bytes."
            end
          end
        end
      end
    end
  end
end
