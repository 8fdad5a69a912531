# frozen_string_literal: true

require_relative "../document"
require_relative "../published"
require_relative "../reports/figures"
require_relative "../targets"

module Larder
  module Lab
    module StoresReport
      # What follows from the timings: the published findings beside one's own, the targets, and a summary in words.
      class Judgements
        PASSES = { "hit" => "hit", "miss" => "pass 1", "write" => "write", "overwrite" => "overwrite" }.freeze
        Figures = Reports::Figures
        ASSESSMENTS = { reached: "reached", missed: "not reached", open: "not shown either way" }.freeze

        # @param results [Results]
        # @param comparison [Comparison]
        def initialize(results, comparison)
          @results = results
          @comparison = comparison
        end

        # @return [Document::Table] the published findings beside one's own
        def published
          rows = Published::FINDINGS.map do |finding|
            here = @comparison.ratio(finding.slower, finding.faster, finding.workload, finding.pass)
            name = "#{short(finding.faster)} as #{short(finding.slower)}: #{step(finding)}"
            [name, finding.verdict, interval(here) || "not measured"]
          end
          Document::Table.build(columns: [{ title: "how many times as fast" }, { title: "published", align: "right" },
                                          { title: "here", format: "ratio" }],
                                rows: rows, notes: ["Published: #{Published::SOURCE}.",
                                                    "postgresql is solid_cache-postgresql."])
        end

        # @return [Document::Table, nil] the targets; nil without larder
        def targets
          return unless @results.row("larder")

          Document::Table.build(columns: [{ title: "larder, one thread" }, { title: "measured", format: "ratio" },
                                          { title: "" }], rows: Targets::ALL.map { |target| target_cells(target) })
        end

        # @return [Array<String>] sentences
        def words
          [*fastest, *alike, noise].compact
        end

        private

        def step(finding)
          threads = finding.workload == Published::ONE ? "1 thread" : "#{@results.settings.threads} threads"
          "#{finding.pass}, #{threads}"
        end

        # So that two names have room in a cell.
        def short(name)
          name.delete_prefix("solid_cache-")
        end

        def target_cells(target)
          here, judgement = @comparison.judge(target)
          factor = target.factor.to_s.delete_suffix(".0")
          name = "#{PASSES.fetch(target.pass)} at least #{factor} times as fast as #{target.contender}"
          here ? [name, interval(here), ASSESSMENTS.fetch(judgement)] : [name, "-", "not measured"]
        end

        def interval(estimate)
          estimate&.to_h&.transform_keys(&:to_s)
        end

        # One sentence for each of the steps that matter most.
        def fastest
          [%w[one-thread hit], %w[one-thread miss], %w[threads-disjoint hit]].filter_map do |workload, pass|
            next unless @results.settings.workloads.include?(workload)

            first, second = shared(workload, pass).first(2)
            second && sentence(first, second, workload, pass)
          end
        end

        # Stores that all processes of a machine share, without the second measurement of one; the fastest first.
        def shared(workload, pass)
          @comparison.ranking(workload, pass).select do |row|
            Contenders.fetch(row.contender).shared? && row.name == row.contender
          end
        end

        def sentence(first, second, workload, pass)
          estimate = @comparison.ratio(second.name, first.name, workload, pass)
          place = "#{PASSES.fetch(pass).capitalize}, #{workload == "one-thread" ? "one thread" : "several threads"}"
          if @comparison.verdict(estimate, workload, pass) == :slower
            "#{place}: #{first.name} is the fastest shared store; #{second.name}, the next, takes " \
              "#{Figures.ratio(estimate)} times as long."
          else
            "#{place}: no difference is shown between #{first.name} and #{second.name}, the fastest shared stores " \
              "(ratio #{Figures.ratio(estimate)})."
          end
        end

        def alike
          return unless @results.settings.workloads.include?("one-thread")

          pairs = shared("one-thread", "hit").drop(1).each_cons(2).select do |one, other|
            estimate = @comparison.ratio(other.name, one.name, "one-thread", "hit")
            @comparison.verdict(estimate, "one-thread", "hit") == :none
          end
          return if pairs.empty?

          names = pairs.map { |one, other| "#{one.name} and #{other.name}" }
          "Hit, one thread: no difference is shown between #{names.join(", nor between ")}."
        end

        def noise
          contender = @results.twins.last
          return "Nothing was measured twice, so the noise is unknown." unless contender

          floors = @results.settings.workload_types.flat_map do |type|
            type.passes.filter_map { |pass| @comparison.noise(type.key, pass.key) }
          end
          return if floors.empty?

          "Noise: two measurements of #{contender} lay up to #{Figures.percent(floors.max)} apart; differences " \
            "within a step's own noise are not shown as differences (≈)."
        end
      end
    end
  end
end
