# frozen_string_literal: true

require "test_helper"
require "larder/lab/commands"

module Larder
  module Lab
    module Commands
      class CallsTest < ActiveSupport::TestCase
        SHORT = ["--sessions", "1", "--passes", "1", "--turn-ms", "1", "--seed", "1"].freeze

        test "each block is measured with the floor" do
          with_directory do |dir|
            file = File.join(dir, "run.json")
            outcome = lab("calls", *SHORT, "--only", "larder,floor", "--json", file)
            assert_equal 0, outcome.status, outcome.out + outcome.err
            turns = JSON.parse(File.read(file)).dig("chapters", 0, "details", "samples")
            taken = turns.map { |turn| turn.values_at("block", "row") }
            keys = Suites.fetch("calls").blocks.map(&:key)
            private = [%w[write_cold floor]] # a new process has none of its values
            assert_equal (keys.product(%w[larder floor reference]) - private).sort, taken.uniq.sort
          end
        end

        slow_test "every store of each kind can do every call" do
          outcome = lab("calls", *SHORT)
          assert_equal 0, outcome.status, outcome.out
          assert_no_match(/invalid/, outcome.out)
        end

        test "unless others are named, the rows are a store of each kind and the floor" do
          silent = CLI::Terminal.new(StringIO.new)
          rows = [[], ["--except", "file"], ["--only", "null"]].map do |arguments|
            Commands.fetch("calls").new(silent, silent).options_for(arguments).contenders
          end
          usual = %w[larder memory file litecache redis floor]
          assert_equal [usual, usual - ["file"], ["null"]], rows
        end
      end
    end
  end
end
