# frozen_string_literal: true

# Joins several runs in one document.

module Larder
  module Lab
    class Document
      # Chapters of several runs, in the order given. What was measured elsewhere says so.
      module Joined
        # Facts of which another value means another machine, or another Ruby.
        PLACE = %w[cpu cores memory_bytes kernel ruby].freeze
        APART = "Measured on another machine, or with another Ruby, than the first chapter: do not set these figures " \
                "beside those of other chapters."

        module_function

        # @param documents [Array<Document>] one or more
        # @return [Document] with the environment of the first
        def of(documents)
          first, *rest = documents
          return first if rest.empty?

          Document.new(command: documents.map(&:command).uniq.join(", "), environment: first.environment,
                       line: documents.map(&:line).uniq.join("; "),
                       chapters: documents.flat_map { |document| chapters(document, first.environment) },
                       elapsed: documents.sum(&:elapsed), version: documents.map(&:version).uniq.join(", "))
        end

        def chapters(document, here)
          there = document.environment
          return document.chapters if there.values_at(*PLACE) == here.values_at(*PLACE)

          document.chapters.map { |chapter| elsewhere(chapter, there) }
        end

        def elsewhere(chapter, there)
          cores = there["cores"] && "#{there["cores"]} cores"
          place = [there["cpu"], cores, there["kernel"], there["ruby"]].compact.join(", ")
          chapter.dup.tap do |copy|
            copy.facts = [*chapter.facts, "measured on #{place}"]
            copy.warnings = [*chapter.warnings, APART]
          end
        end

        private_class_method :chapters, :elsewhere
      end
    end
  end
end
