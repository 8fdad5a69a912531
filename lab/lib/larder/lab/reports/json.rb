# frozen_string_literal: true

require "json"

module Larder
  module Lab
    module Reports
      # The whole run for programs: circumstances, raw samples, and what was concluded from them.
      class Json
        Reports.register("json", self)

        # Raised whenever a field changes its meaning or goes.
        SCHEMA = { name: "larder-lab.stores", version: 1 }.freeze

        # @param results [Results]
        # @param comparison [Comparison]
        def initialize(results, comparison, **)
          @results = results
          @comparison = comparison
        end

        # @return [String]
        def to_s
          "#{JSON.pretty_generate(document)}\n"
        end

        # @return [Hash{Symbol=>Object}]
        def document
          { schema: SCHEMA, larder_lab: VERSION, environment: @results.environment, settings: settings,
            workloads: workloads, base: @comparison.base, twins: @results.twins,
            rows: @results.rows.map { |row| row(row) }, summary: summary, findings: findings, targets: targets,
            footprints: @results.footprints.map(&:to_h), samples: @results.samples.map(&:to_h) }
        end

        private

        def settings
          given = @results.settings
          given.to_h.except(:urls, :directory).merge(
            count: @results.count, asked_count: given.count, rounds: @results.rounds, asked_rounds: given.rounds,
            given_urls: given.urls.keys, elapsed: @results.elapsed
          )
        end

        def workloads
          @results.settings.workload_types.map do |type|
            { key: type.key, title: type.heading(@results.settings.threads), about: type.about,
              passes: type.passes.map { |pass| { key: pass.key, title: pass.title } } }
          end
        end

        def row(row)
          type = Contenders.fetch(row.contender)
          row.to_h.merge(title: type.title, shared: type.shared?)
        end

        def summary
          each_block.flat_map do |workload, pass|
            @results.measured.map do |row|
              times = @results.per_call(row.name, workload, pass)
              ratio = @comparison.ratio(row.name, @comparison.base, workload, pass)
              { row: row.name, workload: workload, pass: pass, median_seconds_per_call: Statistics.median(times),
                mean_seconds_per_call: Statistics.mean(times), times_base: ratio.to_h,
                noise: @comparison.noise(workload, pass), verdict: @comparison.verdict(ratio, workload, pass) }
            end
          end
        end

        def each_block
          @results.settings.workload_types.flat_map { |type| type.passes.map { |pass| [type.key, pass.key] } }
        end

        def findings
          Published::FINDINGS.map do |finding|
            here = @comparison.ratio(finding.slower, finding.faster, finding.workload, finding.pass)
            finding.to_h.merge(source: Published::SOURCE, here: here&.to_h)
          end
        end

        def targets
          Targets::ALL.map do |target|
            here, judgement = @comparison.judge(target)
            target.to_h.merge(here: here&.to_h, judgement: judgement)
          end
        end
      end
    end
  end
end
