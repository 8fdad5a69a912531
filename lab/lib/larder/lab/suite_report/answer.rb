# frozen_string_literal: true

# Answers a reader who reads no further: one sentence for each kind of application, and the chart of shares.

require_relative "../bench/verdict"
require_relative "../contenders"
require_relative "../document"
require_relative "findings"
require_relative "share"

module Larder
  module Lab
    module SuiteReport
      # The answer of a suite of applications.
      class Answer
        Figures = Reports::Figures
        # The row of several servers: each has its own file, and all share one Redis.
        LEVELS = "larder-redis"

        # @param plan [Bench::Plan]
        # @param findings [Findings]
        def initialize(plan, findings)
          @findings = findings
          answers = plan.suite.answers.filter_map { |key| plan.blocks.find { |block| block.key == key } }
          @block = [*answers, *plan.blocks].find { |block| findings.ranking(block).any? }
          @share = Share.new(plan, findings)
        end

        # @return [Document::Answer]
        def to_answer
          texts = { "One server" => one_server, "Several servers" => several_servers }
          sentences = texts.map do |about, (text, verdict)|
            { "about" => about, "text" => text, "verdict" => verdict&.to_s }
          end
          Document::Answer.new(sentences: sentences, chart: @share.chart)
        end

        private

        # @return [Array(String, Symbol), String] with a verdict if there is one
        def one_server
          return "Nothing could be measured." unless @findings.base

          compared(@findings.base, "store that all processes share") { |each| Contenders.fetch(each).shared? }
        end

        def several_servers
          unless @findings.rows.include?(LEVELS)
            why = @findings.reason(LEVELS) || "`larder-lab applications --only larder-redis,redis` measures it"
            return "Larder in front of a shared store was not measured: #{why}."
          end

          compared(LEVELS, "shared server", " The server was on this machine, without a network.") do |each|
            Contenders.fetch(each).server
          end
        end

        def compared(row, kind, more = "", &candidate)
          return "#{subject} was not measured with #{@findings.name(row)}." unless @findings.seconds(row, @block)

          begun = "#{subject} takes #{@findings.time(row, @block)} with #{@findings.name(row)}."
          other = rivals(row).find(&candidate)
          return "#{begun} No other #{kind} was measured." unless other

          found = @findings.clause(other, row, @block, words: Bench::Verdict::SENTENCES, kind: kind)
          ["#{begun} #{found}#{shares(row, other)}#{more}",
           Bench::Verdict.for_an_application(@findings.ratio(other, @block, row))]
        end

        # Stores of another kind, the fastest first. "larder-tmpfs" is a larder.
        def rivals(row)
          @findings.ranking(@block).reject do |each|
            each.split("-").first == row.split("-").first || !Contenders.fetch(each).keeps_values?
          end
        end

        def shares(row, other)
          return unless @block.key == Share::REQUEST

          own, others = [row, other].map { |each| @share.words(each) }
          " The cache takes #{own} of that request; with #{@findings.name(other)} #{others}." if own && others
        end

        # "A page of ten fragments".
        def subject
          words = @block.key == "cold" ? "#{@block.unit} (#{@block.title})" : @block.title
          "#{words.match?(/\A[aeiou]/) ? "An" : "A"} #{words}"
        end
      end
    end
  end
end
