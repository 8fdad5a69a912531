# frozen_string_literal: true

# The findings of one command.

require_relative "blocks"

module Larder
  module Lab
    class Document
      # The first screen of a report. sentences: `{ "about" => a kind of application, "text" =>, "verdict" => of
      # Bench::Verdict, or nil }`, for a reader who reads nothing else; chart: a block, or nil.
      Answer = Struct.new(:sentences, :chart, keyword_init: true) do
        # @param about [String]
        # @param text [String]
        # @param verdict [Symbol, nil]
        # @return [Hash{String=>String, nil}] for `sentences`
        def self.sentence(about, text, verdict = nil)
          { "about" => about, "text" => text, "verdict" => verdict&.to_s }
        end

        # @param hash [Hash{String=>Object}] from JSON
        # @return [Answer]
        def self.from_h(hash)
          new(sentences: hash["sentences"], chart: hash["chart"] && Block.from_h(hash["chart"]))
        end

        # @return [Hash]
        def to_h = { sentences: sentences, chart: chart&.to_h }

        # @return [Array<String>] each with its kind of application in front
        def lines = sentences.map { |sentence| "#{sentence["about"]}: #{sentence["text"]}" }
      end

      # One measured quantity, which `compare` compares with the same quantity of another run. key: stands for the same
      # quantity in every run: suite, block and row, as "published-a/hit/redis", or suite, block, figure and row, as
      # "scaling/threads/4/redis"; label: for people; unit: "seconds", "bytes", "per second", "share" or "count";
      # better: "lower" or "higher"; samples: one for each session of a time, process of a figure, or round.
      Measure = Struct.new(:key, :label, :unit, :better, :samples, keyword_init: true) do
        # @param hash [Hash{String=>Object}]
        # @return [Measure]
        def self.from_h(hash) = new(**hash.transform_keys(&:to_sym).slice(*members))
      end

      # What one command found out. key: its name; title; lead: what was done, in a sentence or two; facts: how it was
      # run, short ("n = 10,000", "5 sessions", "seed 7"); conclusions: what follows, in sentences with figures;
      # warnings: reasons for not believing it; sections: {Section}s; measures: {Measure}s; failed: whether a value was
      # wrong or nothing could be measured; failures: row, block and reason of each; details: raw samples and settings
      # as plain data, in a shape of the command's own; answer: the {Answer} of a chapter that has one.
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
        def failed? = failed == true

        # @return [Array<Section>] as a page has them: headlines first
        def reading_order = sections.partition(&:headline).flatten(1)

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
