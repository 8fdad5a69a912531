# frozen_string_literal: true

require "test_helper"
require "larder/lab/layered/options"

module Larder
  module Lab
    module Layered
      class OptionsTest < ActiveSupport::TestCase
        test "without options: both remote stores, five round trips, the model of 1,000 machines" do
          plan = Options.parse([]).plan
          assert_equal %w[redis memcached], plan.remotes
          assert_equal [0.0, 0.0005, 0.002, 0.03, 0.1], plan.rtts
          assert_equal [1000, 32, 3_200_000.0], [plan.fleet.machines, plan.fleet.workers, plan.fleet.reads]
        end

        test "round trips are sorted, and near and far are those of a network" do
          plan = Options.parse(%w[--rtt 40ms,0,1ms]).plan
          assert_equal [0.0, 0.001, 0.04], plan.rtts
          assert_equal [0.001, 0.04], [plan.near, plan.far]
        end

        test "every visit is made, in an order that the seed repeats" do
          tasks = Options.parse(%w[--seed 7]).plan.tasks
          assert_equal tasks, Options.parse(%w[--seed 7]).plan.tasks
          refute_equal tasks, Options.parse(%w[--seed 8]).plan.tasks
          assert_equal({ "calls" => 12, "traffic" => 9, "regions" => 5, "fleet" => 1 }, tasks.map(&:part).tally)
        end

        test "one round trip has no regions, and memcached alone no traffic" do
          assert_equal %w[calls fleet traffic], Options.parse(%w[--rtt 1ms]).plan.tasks.map(&:part).uniq.sort
          assert_equal %w[calls], Options.parse(%w[--remotes memcached]).plan.tasks.map(&:part).uniq
        end

        test "what makes no sense names the option and what is possible" do
          { %w[--rtt fast] => /--rtt fast: a duration is written/,
            %w[--rtt 2s] => /--rtt 2s: 450ms at most, as the clients of the stores give up after a second/,
            %w[--remotes etcd] => /--remotes etcd: known are redis, memcached/,
            %w[--rounds 0] => /--rounds must be 1 to 100, not 0/,
            %w[--local-expires-in 1h] => /--local-expires-in must be 0.1 to 10 seconds, not 3600/,
            %w[--expires-in 5] => /--expires-in 5: a duration is written/,
            %w[--bytes 5] => /--bytes must be 100 to 1000000, not 5/,
            %w[--machines 0] => /--machines must be 1 to 1000000, not 0/,
            %w[--skew -1] => /--skew must be 0 to 5, not -1/ }.each do |arguments, message|
            error = assert_raises(UsageError) { Options.parse(arguments) }
            assert_match(message, error.message)
          end
        end
      end
    end
  end
end
