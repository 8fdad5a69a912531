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
          @block = decisive(plan)
          @share = Share.new(plan, findings)
        end

        # @return [Document::Answer]
        def to_answer
          Document::Answer.new(sentences: [one_server, several_servers], chart: @share.chart)
        end

        private

        # The first block that the suite answers by and that was measured.
        def decisive(plan)
          answers = plan.suite.answers.filter_map { |key| plan.blocks.find { |block| block.key == key } }
          [*answers, *plan.blocks].find { |block| @findings.ranking(block).any? }
        end

        def one_server
          row = @findings.base
          about = "One server"
          return Document::Answer.sentence(about, "Nothing could be measured.") unless row

          compared(about, row, "store that all processes share") { |each| Contenders.fetch(each).shared? }
        end

        def several_servers
          about = "Several servers"
          unless @findings.rows.include?(LEVELS)
            why = @findings.reason(LEVELS) || "`larder-lab applications --only larder-redis,redis` measures it"
            return Document::Answer.sentence(about, "Larder in front of a shared store was not measured: #{why}.")
          end

          compared(about, LEVELS, "shared server", " The server was on this machine, without a network.") do |each|
            Contenders.fetch(each).server
          end
        end

        def compared(about, row, kind, more = "", &candidate)
          seconds = @findings.seconds(row, @block)
          return Document::Answer.sentence(about, "#{subject} was not measured with #{name(row)}.") unless seconds

          begun = "#{subject} takes #{Figures.duration(seconds)} with #{name(row)}."
          other = rivals(row).find(&candidate)
          return Document::Answer.sentence(about, "#{begun} No other #{kind} was measured.") unless other

          verdict = Bench::Verdict.for_an_application(@findings.ratio(other, @block, row))
          found = @findings.clause(other, row, @block, words: Bench::Verdict::SENTENCES, kind: kind)
          Document::Answer.sentence(about, "#{begun} #{found}#{shares(row, other)}#{more}", verdict)
        end

        # Stores of another kind, the fastest first.
        def rivals(row)
          @findings.ranking(@block).reject do |each|
            family(each) == family(row) || !Contenders.fetch(each).keeps_values?
          end
        end

        # "larder-without-yjit" is a larder.
        def family(row)
          row.split("-").first
        end

        def shares(row, other)
          return unless @block.key == Share::REQUEST

          own, others = [row, other].map { |each| @share.words(each) }
          " The cache takes #{own} of that request; with #{name(other)} #{others}." if own && others
        end

        # "A page of ten fragments".
        def subject
          words = @block.key == "cold" ? "#{@block.unit} (#{@block.title})" : @block.title
          "#{words.match?(/\A[aeiou]/) ? "An" : "A"} #{words}"
        end

        def name(row)
          @findings.name(row)
        end
      end
    end
  end
end
