# frozen_string_literal: true

# The findings of one command.

require_relative "answer"
require_relative "blocks"
require_relative "measure"

module Larder
  module Lab
    class Document
      # What one command found out. key: its name; title; lead: what was done, in a sentence or two; facts: how it was
      # run, short ("n = 10,000", "5 rounds", "seed 7"); conclusions: what follows, in sentences with figures; warnings:
      # reasons for not believing it; sections: {Section}s; measures: {Measure}s; failed: whether a value was wrong or
      # nothing could be measured; failures: row, block and reason of each; details: raw samples and settings as plain
      # data, in a shape of the command's own; answer: the {Answer} of a chapter that has one.
      Chapter = Struct.new(:key, :title, :lead, :facts, :conclusions, :warnings, :sections, :measures, :failed,
                           :failures, :details, :answer, keyword_init: true) do
        # @param hash [Hash{String=>Object}] from JSON
        # @return [Chapter]
        def self.from_h(hash)
          fields = hash.transform_keys(&:to_sym).slice(*members)
          new(**fields, answer: hash["answer"] && Answer.from_h(hash["answer"]),
                        sections: hash.fetch("sections").map { |section| Section.from_h(section) },
                        measures: hash.fetch("measures").map { |measure| Measure.from_h(measure) })
        end

        def initialize(key:, title:, lead: nil, facts: [], conclusions: [], warnings: [], sections: [], measures: [],
                       failed: false, failures: [], details: {}, answer: nil)
          super
        end

        # @return [Boolean]
        def failed?
          failed == true
        end

        # @return [Array<Section>] as a page has them: headlines first
        def reading_order
          sections.partition(&:headline).flatten(1)
        end

        # @return [Array<Section>] as a terminal has them: the first headline last, on the screen when the run has ended
        def scrolling_order
          headlines, others = sections.partition(&:headline)
          others + headlines.reverse
        end

        # @return [Hash]
        def to_h
          super.merge(sections: sections.map(&:to_h), measures: measures.map(&:to_h), answer: answer&.to_h)
        end
      end
    end
  end
end
