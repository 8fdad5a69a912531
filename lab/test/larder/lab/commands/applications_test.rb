# frozen_string_literal: true

require "test_helper"
require "larder/lab/commands"

module Larder
  module Lab
    module Commands
      class ApplicationsTest < ActiveSupport::TestCase
        SHORT = ["--sessions", "1", "--passes", "1", "--turn-ms", "1", "--seed", "1"].freeze

        test "real processes are measured, and the report has the published shape" do
          with_directory do |dir|
            file = File.join(dir, "run.json")
            outcome = lab("applications", *SHORT, "--only", "memory", "--dir", dir, "--json", file)
            assert_equal 0, outcome.status, outcome.out + outcome.err
            chapter = JSON.parse(File.read(file))["chapters"].first
            warm = Suites.fetch("applications").blocks.reject(&:cold).map(&:key)
            assert_equal warm.sort, chapter.dig("details", "samples").map { |turn| turn["block"] }.uniq.sort
            assert_match(/^  memory +not measured: other processes see nothing of its entries$/, outcome.out)
            assert_equal ["run.json"], Dir.children(dir)
          end
        end

        slow_test "a store that swaps two fragments fails the run, with the block that showed it" do
          outcome = lab("applications", *SHORT, "--require", fixture("liar"), "--only", "memory,swapper", "--blocks",
                        "page,fragment")
          assert_equal 1, outcome.status
          assert_match(/swapper: invalid, a wrong value: call \d+ of the block "page of ten fragments"/,
                       outcome.out.gsub(/\s+/, " "))
        end

        slow_test "larder in front of Redis answers for several servers" do
          skip "redis-server is not installed" unless Servers.fetch("redis").path

          outcome = lab("applications", *SHORT, "--only", "larder,redis,larder-redis", "--blocks", "fragment,cold")
          assert_equal 0, outcome.status, outcome.out
          assert_match(/Several servers: A read of a fragment takes \d\S* [mµ]?s with Larder in front of Redis\. /,
                       outcome.out.gsub(/\s+/, " "))
        end
      end
    end
  end
end
