# frozen_string_literal: true

# Builds the report chapter of `larder-lab sessions`: its parts, Larder's targets, warnings, and the raw samples.

require_relative "../loads/report"
require_relative "goals"
require_relative "options"
require_relative "pages_part"
require_relative "puma_part"
require_relative "stores"
require_relative "work_part"

module Larder
  module Lab
    module Sessions
      # The chapter.
      class Report < Loads::Report
        KEY = "sessions"
        TITLE = "Sessions: what they cost a request"
        # What tells of each part.
        PARTS = { "work" => WorkPart, "pages" => PagesPart, "puma" => PumaPart }.freeze

        private

        def registry
          Stores
        end

        def lead
          "Every store holds #{Figures.thousands(plan.settings[:sessions])} sessions before it is measured. Only the " \
            "sessions differ: each store runs in processes of its own, with a private server where it needs one."
        end

        def own_facts
          settings = plan.settings
          ["#{Figures.thousands(settings[:sessions])} sessions loaded first", *amounts(settings)]
        end

        def amounts(settings)
          requests, served = %i[requests served].map { |name| Figures.thousands(settings[name] * results.rounds) }
          { "work" => "work: blocks of #{Figures.duration(settings[:seconds])}",
            "pages" => "pages: #{requests} requests each",
            "puma" => "Puma: #{served} requests each" }.slice(*settings[:parts]).values
        end

        def parts
          @parts ||= plan.settings[:parts].to_h { |name| [name, PARTS.fetch(name).new(results)] }
        end

        def sections
          [*parts.values.flat_map(&:sections), Goals.new(parts, results).section]
        end

        def conclusions
          parts.values.flat_map(&:conclusions)
        end

        def measures
          parts.values.flat_map(&:measures)
        end

        def own_warnings
          blocks = results.measured.any? ? parts.values.map(&:blocks).reduce({}, :merge) : {}
          [fewer, without_application, parts["puma"]&.warning, Lab::Warnings.far_apart(blocks)]
        end

        def without_application
          "Pages are not measured: #{Pages::MISSING}." unless Pages.application?
        end

        def fewer
          loaded = plan.settings[:sessions]
          usual = Options::DEFAULT.fetch(:sessions)
          return unless loaded < usual

          "#{Figures.thousands(loaded)} sessions were loaded, not #{Figures.thousands(usual)} as published."
        end
      end
    end
  end
end
