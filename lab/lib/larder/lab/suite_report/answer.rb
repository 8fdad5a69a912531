# frozen_string_literal: true

require_relative "../bench/verdict"
require_relative "../contenders"
require_relative "../document"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # Answers a reader who reads no further, for a suite of applications: one sentence for each kind of application,
      # and a chart of the share of a request that each store takes. A share is the time of a page's reads, measured by
      # themselves, as a part of the time of that page.
      class Answer
        Figures = Reports::Figures
        # The row of several servers: each has its own file, and all share one Redis.
        LEVELS = "larder-redis"
        # The block of a whole request, the block of one read in it, and how many such reads it makes.
        REQUEST = "page"
        READ = "fragment"
        READS = 10

        def initialize(plan, findings)
          @findings = findings
          @absent = plan.rows.select { |row| findings.reason(row) }
          @request, @read, *answers = [REQUEST, READ, *plan.suite.answers].map do |key|
            plan.blocks.find { |block| block.key == key }
          end
          @block = [*answers, *plan.blocks].compact.find { |block| findings.ranking(block).any? }
        end

        def to_answer
          sentences = { "One server" => one_server, "Several servers" => several_servers }
          Document::Answer.new(chart: chart, sentences: sentences.map do |about, (text, verdict)|
            { "about" => about, "text" => text, "verdict" => verdict&.to_s }
          end)
        end

        private

        # @return [Array(String, Symbol), String] with a verdict if there is one
        def one_server
          return "Nothing could be measured." unless @findings.base

          compared(@findings.base, "store that all processes share", &:shared?)
        end

        def several_servers
          unless @findings.rows.include?(LEVELS)
            why = @findings.reason(LEVELS) || "`larder-lab applications --only larder-redis,redis` measures it"
            return "Larder in front of a shared store was not measured: #{why}."
          end

          compared(LEVELS, "shared server", " The server was on this machine, without a network.", &:server)
        end

        def compared(row, kind, more = "", &candidate)
          return "#{subject} was not measured with #{@findings.name(row)}." unless @findings.seconds(row, @block)

          begun = "#{subject} takes #{@findings.time(row, @block)} with #{@findings.name(row)}."
          other = rivals(row).find { |each| candidate.call(Contenders.fetch(each)) }
          return "#{begun} No other #{kind} was measured." unless other

          found = @findings.clause(other, row, @block, words: Bench::Verdict::SENTENCES, kind: kind)
          ["#{begun} #{found}#{shares(row, other)}#{more}",
           Bench::Verdict.for_an_application(@findings.ratio(other, @block, row))]
        end

        # Stores of another kind, the fastest first. "larder-redis" is a larder.
        def rivals(row)
          @findings.ranking(@block).select { |each| each.split("-").first != row.split("-").first && keeps?(each) }
        end

        # "A page of ten fragments".
        def subject
          words = @block.key == "cold" ? "#{@block.unit} (#{@block.title})" : @block.title
          "#{words.match?(/\A[aeiou]/) ? "An" : "A"} #{words}"
        end

        def keeps?(row) = Contenders.fetch(row).keeps_values?

        def shares(row, other)
          own, others = [row, other].map { |each| share(each) } if @block == @request
          " The cache takes #{own} of that request; with #{@findings.name(other)} #{others}." if own && others
        end

        # @return [String, nil] "9.4 %", or nil if it was not measured or this machine was too busy
        def share(row)
          estimate = part(row)
          Figures.percent(whole(estimate.value)) if Bench::Verdict.known?(estimate)
        end

        # @return [Bench::Stats::Estimate, nil] of one read; nil where a part of it was not measured
        def part(row) = @request && @read && @findings.ratio(row, @read, row, @request)

        def whole(part) = [part * READS, 1.0].min

        # Nil unless a share is known.
        def chart
          rows = @request ? @findings.ranking(@request).select { |row| keeps?(row) && part(row) } : []
          return if rows.none? { |row| share(row) }

          Document::Table.new(
            caption: "A page of #{READS} cached fragments: the cache's share of a request", notes: [sentence(rows)],
            columns: ["", { title: "share of the request", format: "percent", plot: "linear" }, ["request", "seconds"]],
            rows: rows.map { |row| cells(row) }
          )
        end

        # Named for its extremes, where these are known.
        def sentence(rows)
          known = rows.select { |row| share(row) }.minmax_by { |row| part(row).value }.compact.uniq
          found = known.map { |row| "#{share(row)} with #{@findings.name(row)}" }
          missing = "Not measured: #{@absent.map { |row| @findings.name(row) }.join(", ")}." if @absent.any?
          ["#{READS} reads of 2 KB take #{found.join(", ")}.", without, *missing].compact.join(" ")
        end

        # The same page without a cache.
        def without
          row = @findings.ranking(@request).find { |each| !keeps?(each) } or return
          "Without a cache the page takes #{@findings.time(row, @request)}."
        end

        def cells(row)
          estimate, label = part(row), @findings.name(row)
          return [label, Bench::Verdict::MARKS.fetch(:unknown)] unless Bench::Verdict.known?(estimate)

          shares = %i[value low high].to_h { |name| [name.to_s, whole(estimate.public_send(name))] }
          [label, shares, @findings.seconds(row, @request)]
        end
      end
    end
  end
end
