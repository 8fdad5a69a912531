# frozen_string_literal: true

require "test_helper"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # Real stores filled until they evict.
      class CapacityTest < ActiveSupport::TestCase
        include ReportedRuns

        SMALL = %w[capacity --quick --size 8MiB --seed 1].freeze

        test "held objects are counted, weighed and compared with the limit" do
          report, out = run_reported(*SMALL, "--blocks", "10k,1k", "--only", "larder,file,null")
          larder, files = figures(report).values_at("larder", "file").map { |blocks| blocks.fetch("10k") }
          assert_equal [2, 2], [larder, files].map { |all| all["held"].size }
          larder["held"].each { |held| assert_includes 600..838, held }
          assert_operator larder["disk"].max, :<=, 10 << 20 # 8 MiB, and the statistics
          assert_equal [[1259, 1259], [1259, 1259]], files.values_at("written", "held")
          assert_match(/^  null +not measured: it keeps nothing/, out)
          assert_match(/^  larder .* yes .*^  file +1,259 .* no /m, out)
          keys = %w[10k 1k].product(%w[B-each objects]).map { |parts| "capacity/#{parts.join("/")}/larder" }
          assert_equal keys.sort, measures(report).grep(/larder/).sort
        end

        test "each kind of objects is in a fresh server" do
          skip "memcached is not installed" unless Servers.fetch("memcached").path
          report, = run_reported(*SMALL, "--blocks", "10k,1k", "--only", "memcached")
          assert_equal [["memory (server)"]], where(report, "memcached")
        end

        test "a store that answers another object is invalid, and the run fails" do
          outcome = lab(*SMALL, "--blocks", "10k", "--require", fixture("liar"), "--only", "exchanger")
          assert_equal 1, outcome.status
          assert_match(%r{exchanger: invalid, a wrong value for object/\d+}, outcome.out.gsub(/\s+/, " "))
        end

        test "sizes and kinds that make no sense are refused, help is not" do
          { %w[--blocks 5k] => /unknown block 5k; known: 1k, 100b/, %w[--size 1kb] => /--size 1kb: at least 4MiB/,
            %w[--size 5%] => /--size 5%: a size is written 64kb/ }.each do |arguments, message|
            assert_match(message, assert_raises(UsageError) { options_of("capacity", *arguments) }.message)
          end
          help = options_of("capacity", "--help").help
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
        end

        private

        def where(report, row)
          figures(report)[row].values.map do |block|
            processes = block.values.transpose.map { |values| block.keys.zip(values).to_h }
            processes.map { |process| Suites::Capacity::PLACES[Suites::Capacity.place(process)] }.uniq
          end.uniq
        end
      end
    end
  end
end
