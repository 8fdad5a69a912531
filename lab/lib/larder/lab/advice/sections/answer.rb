# frozen_string_literal: true

# Builds the sections for the answer of an advice: what was excluded, what would change the answer, the lines to
# paste, what was not measured.

require_relative "../../document"
require_relative "../../reports/figures"
require_relative "../flips"

module Larder
  module Lab
    module Advice
      module Sections
        # Everything but times.
        class Answer
          Figures = Reports::Figures
          # What no run of this command measures.
          NEVER = [
            "Your network: round trips and bandwidth are the figures above, added. A connection that is shared or " \
            "starts up takes longer; `larder-lab network` measures through a proxy",
            "Misses, and what it costs to make a value again",
            "Several threads and processes at once (`larder-lab scaling`), full stores that evict " \
            "(`larder-lab soak`), hit ratios (`larder-lab hitratio`)",
            "Other values than this one: what suits a large value need not suit a small one",
            "XML and Protocol Buffers, which want a form or a schema of their own (`larder-lab serializers`)"
          ].freeze

          # @param ranking [Ranking]
          # @param flips [Flips]
          # @param configuration [Configuration]
          # @param tried [Tried] the lines
          def initialize(ranking, flips, configuration, tried)
            @ranking = ranking
            @flips = flips
            @configuration = configuration
            @tried = tried
          end

          # @return [Array<Document::Section>]
          def to_a
            [*against, changes, paste, section("Not measured", [Document::List.new(items: not_measured)])]
          end

          private

          def section(title, blocks)
            Document::Section.new(title: title, blocks: blocks)
          end

          def against
            [["Left out", true], ["What speaks against", false]].filter_map do |title, final|
              found = @ranking.objections(final: final)
              items = found.map { |about, reason| "#{about}: #{reason}" }
              items += refused if final
              section(title, [Document::List.new(items: items)]) unless items.empty?
            end
          end

          def refused
            parts = @ranking.parts
            { **parts.refused_serializers, **parts.refused_stores, **parts.missing_compressors }
              .map { |name, reason| "#{name}: #{reason}" }
          end

          def changes
            rows = @flips.all.map { |flip| row(flip) }
            return section("What would change the answer", [Document::Prose.new(text: none)]) if rows.empty?

            table = Document::Table.build(
              caption: "Each by itself, the nearest first", rows: rows, notes: notes,
              columns: [{ title: "" }, { title: "is" }, { title: "changes it" }, { title: "to" }]
            )
            section("What would change the answer", [table])
          end

          def row(flip)
            [flip.input, flip.now, flip.change, "#{flip.choice}#{" †" unless flip.clear}"]
          end

          def none
            "No single one of the circumstances."
          end

          def notes
            idle = @flips.without_effect
            noise = Figures.percent(@ranking.parts.noise)
            ["A change counts where it is more than the noise, #{noise} of what was measured.",
             ("No value of #{idle.join(", ")} alone changes it." if idle.any?),
             ("†: something speaks against that, too." unless @flips.all.all?(&:clear))].compact
          end

          def paste
            code = [("# Gemfile\n#{@configuration.gemfile}\n" if @configuration.gemfile),
                    "# config/environments/production.rb\n#{@configuration.code}"].compact.join
            section("To paste", [Document::Code.new(text: code, language: "ruby"),
                                 Document::Prose.new(text: @tried.words)])
          end

          def not_measured
            [*NEVER, databases, disk].compact
          end

          def databases
            left = Profiles::DATABASES - @ranking.parts.stores - @ranking.parts.refused_stores.keys
            return if left.empty?

            "#{left.map { |key| Profiles.fetch(key).title }.join(", ")}, which hosts share and a crash leaves whole: " \
              "--persistent, or --stores with #{left.join(",")}, measures it"
          end

          def disk
            needed = @ranking.constraints.needed(@ranking.best)
            return if @ranking.best.profile.in_memory || needed <= @ranking.question.memory

            "Reads from the disk: #{Figures.bytes(needed)} are more than #{@ranking.question.said(:memory)} of " \
              "memory, and what was measured lay in memory"
          end
        end
      end
    end
  end
end
