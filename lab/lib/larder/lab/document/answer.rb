# frozen_string_literal: true

# The first screen of a report: sentences that a reader understands who reads nothing else, and one chart.

require_relative "blocks"

module Larder
  module Lab
    class Document
      # sentences: `{ "about" => a kind of application, "text" =>, "verdict" => of Bench::Verdict, or nil }`; chart: a
      # block, or nil.
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
          new(sentences: hash["sentences"], chart: hash["chart"] && Blocks.from_h(hash["chart"]))
        end

        # @return [Hash]
        def to_h
          { sentences: sentences, chart: chart && { kind: chart.kind, **chart.to_h } }
        end

        # @return [Array<String>] each with its kind of application in front
        def lines
          sentences.map { |sentence| "#{sentence["about"]}: #{sentence["text"]}" }
        end
      end
    end
  end
end
