# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # Real stores, real processes, real servers.
      class FeaturesTest < ActiveSupport::TestCase
        slow_test "stores without a server are told apart by what they really do" do
          rows = ask("larder,memory,file,null")
          { "cross_process" => [true, false, true, false], "app_killed" => [true, false, true, false],
            "serializes" => [true, true, true, false], "local_store" => [false, false, false, true],
            "server_killed" => ["no server"] * 4 }.each do |question, answers|
            assert_equal answers, (rows.map { |row| row[question]&.first }), question
          end
          %w[atomic_increment fork_safe race_condition_ttl expires long_keys].each do |question|
            assert_equal true, rows.first[question].first, question
          end
        end

        slow_test "a private server is restarted and killed, and met at another address" do
          needs_server("redis")

          layered, redis = ask("larder-redis,redis")
          %w[cross_process remote cluster app_killed atomic_increment fork_safe].each do |question|
            [layered, redis].each { |row| assert_equal true, row[question].first, "#{question}: #{row[question]}" }
          end
          %w[local_store compression].each { |question| assert_equal true, redis[question].first, question }
          %w[server_restart server_killed].each { |question| assert_equal false, redis[question].first, question }
        end

        slow_test "a server of the user's is not killed, and keeps nothing of the lab's for long" do
          with_server("redis") do |endpoint|
            row, = ask("redis", "--url", "redis=#{endpoint["url"]}")
            %w[cluster server_killed].each { |question| assert_match(/not the lab's own/, row[question].last) }
            assert_equal true, row["app_killed"].first
            assert_match(/keys=(\d+),expires=\1,/, speak(endpoint, "INFO keyspace\r\n"))
          end
        end

        private

        # Answers of each row, which has one process, by questions.
        def ask(names, *arguments)
          chapter, = measured("features", "--quick", "--seed", "1", "--only", names, *arguments)
          rows = figures(chapter).values_at(*names.split(","))
          assert_equal [1], rows.flat_map(&:values).flat_map(&:values).map(&:size).uniq
          rows.map { |blocks| blocks.values.inject(:merge).transform_values(&:first) }
        end
      end
    end
  end
end
