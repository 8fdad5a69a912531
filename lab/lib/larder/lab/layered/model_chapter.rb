# frozen_string_literal: true

require_relative "model_tables"

module Larder
  module Lab
    module Layered
      # The chapter of `larder-lab layered --model`.
      class ModelChapter
        LEAD = "Computed, not measured: what many machines with Larder before a remote store ask of the servers that " \
               "they share."

        # @param fleet [Fleet]
        def initialize(fleet)
          @fleet = fleet
        end

        # @return [Document::Chapter]
        def to_chapter
          tables = ModelTables.new(@fleet)
          Document::Chapter.new(key: "layered", title: "Two levels: the model", lead: LEAD, sections: tables.sections,
                                conclusions: tables.conclusions, details: { fleet: @fleet.to_h })
        end
      end
    end
  end
end
