# frozen_string_literal: true

# The base of the report chapters on codecs: how the run was made, what was not measured, the raw samples. The tables
# and charts of each command are in the file of that command beside this one.

require_relative "../../document"
require_relative "../../reports/figures"
require_relative "../comparison"
require_relative "../warnings"
require_relative "../measures"
require_relative "../published"

module Larder
  module Lab
    module Trials
      # What each command that tries codecs tells of its results.
      module Chapters
        # A subclass has a KEY, a TITLE and a LEAD, the OPERATIONS that `compare` is to see, and implements
        # {#group_section}; it may have sections and conclusions of its own.
        class Base
          Figures = Reports::Figures
          # Follows the name of a codec that returns something else than it was given.
          LIKENESS = "* brings back a likeness, not the value: Hashes for records, text for times"
          # Steps of a decade on an axis of bandwidths.
          STEPS = 4

          # @param results [Results]
          def initialize(results)
            @results = results
            @plan = results.plan
            @comparisons = Hash.new { |all, group| all[group] = Comparison.new(results, group) }
          end

          # @return [Document::Chapter]
          def to_chapter
            type = self.class
            Document::Chapter.new(
              key: type::KEY, title: type::TITLE, lead: type::LEAD, facts: facts, conclusions: conclusions,
              warnings: Warnings.new(@results, @plan).lines, sections: [*to_sections, not_measured, software].compact,
              measures: Measures.new(@results, type::KEY, operations).to_a, details: details,
              failed: @results.invalid? || @results.samples.empty?
            )
          end

          private

          # Sections on what was measured.
          def to_sections
            groups.map { |group| group_section(group, @comparisons[group]) }
          end

          # @return [Array<String>] sentences
          def conclusions
            []
          end

          def operations
            self.class::OPERATIONS
          end

          # Those of which something was measured.
          def groups
            @plan.groups.select { |group| @comparisons[group].base }
          end

          def facts
            ["#{@plan.rounds} #{@plan.rounds == 1 ? "round" : "rounds"}, each in fresh processes",
             "blocks of #{format("%g", @plan.seconds)} s or more", "seed #{@plan.seed}"]
          end

          def section(title, *blocks)
            Document::Section.new(title: title, blocks: blocks.compact) if blocks.compact.any?
          end

          # Rows of a table for what was measured, the fastest first, and then for what was not.
          def rows(group, operation)
            comparison = @comparisons[group]
            comparison.ranking(operation).map { |name| [label(name, group), *yield(name)] } + refused(group)
          end

          def refused(group)
            @plan.names(group).filter_map do |name|
              error = @results.reason(name, group)
              [name, "#{error.is_a?(Invalid) ? "invalid" : "not measured"}: #{short(error.message)}"] if error
            end
          end

          # The remedy and the particulars are said once, under "Not measured".
          def short(message)
            message[/\A.+?(?=[:;,] | \(|\z)/m]
          end

          def label(name, group)
            "#{name}#{" *" unless @results.size(name, group).keeps}"
          end

          def notes(group)
            @results.measured(group).all? { |name| @results.size(name, group).keeps } ? [] : [LIKENESS]
          end

          # Dots of one operation with their intervals.
          def dots(group, operation, ours: "larder")
            comparison = @comparisons[group]
            measured = comparison.ranking(operation).map do |name|
              { label: label(name, group), highlight: name == ours, dots: @results.seconds(name, group, operation),
                **comparison.estimate(name, operation).to_h }
            end
            measured + refused(group).map { |name, why| { label: name, note: why } }
          end

          # Two columns under one heading: what was published, and what was measured.
          def pair(group, there, here, optional = 0)
            [{ title: "there", format: there, align: "right", group: group, optional: optional },
             { title: "here", format: here, group: group, optional: optional }]
          end

          # Reasons with all that they are the reason for. What a codec cannot do, it cannot a second time.
          def not_measured
            rejected = @results.rejected.reject { |name, group, _| @plan.twins(group)&.first == name }
            reasons = rejected.group_by { |_, _, error| [error.is_a?(Invalid), error.message] }
            items = reasons.map do |(invalid, message), rows|
              whole = rows.size == @plan.groups.sum { |group| @plan.names(group).size }
              "#{whole ? "everything" : listed(rows)}: #{"invalid, " if invalid}#{message}"
            end
            section("Not measured", Document::List.new(items: items)) if items.any?
          end

          def software
            versions = @results.versions.map { |name, version| "#{name} #{version}" }
            section("Software", Document::List.new(items: [versions.join(", ")])) if versions.any?
          end

          def listed(rows)
            names = rows.group_by { |name, *| name }.transform_values { |each| each.map { |_, group, _| group } }
            names.group_by { |_, groups| groups }.map do |groups, of|
              "#{of.map(&:first).join(", ")} on #{groups.join(", ")}"
            end.join("; ")
          end

          def details
            { environment: @results.environment, rounds: @plan.rounds,
              block_seconds: @plan.seconds, seed: @plan.seed, elapsed_seconds: @results.elapsed,
              versions: @results.versions, sizes: sizes, samples: @results.samples.map(&:to_h), rejected: rejected }
          end

          def sizes
            @plan.groups.flat_map do |group|
              @results.measured(group).map do |name|
                { name: name, group: group, **@results.size(name, group).to_h, server: @results.server(name, group) }
              end
            end
          end

          def rejected
            @results.rejected.map { |name, group, error| { name: name, group: group, reason: error.message } }
          end

          # "12.5 ms"
          def time(seconds)
            Figures.duration(seconds)
          end

          # "a" or "a and b" or "a, b and c"
          def enumerated(names)
            [names[0..-2].join(", "), names.last].reject { |part| part.to_s.empty? }.join(" and ")
          end

          # Who is fastest, and how sure that is.
          def winner(group, operation, names = @results.measured(group))
            comparison = @comparisons[group]
            first, second = (comparison.ranking(operation) & names).first(2)
            return unless second

            ratio = comparison.ratio(second, operation, first)
            figure = time(comparison.median(first, operation))
            return "no difference is shown between #{first} (#{figure}) and #{second}" if
              comparison.same?(ratio, operation)

            "#{first} is the fastest with #{figure}; #{second} takes #{Figures.ratio(ratio)} times as long"
          end
        end
      end
    end
  end
end
