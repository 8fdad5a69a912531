# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # Real stores, real processes, real servers.
      class FeaturesTest < ActiveSupport::TestCase
        slow_test "stores without a server are told apart by what they really do" do
          rows = ask("larder,memory,null")
          assert_equal({ "larder" => true, "memory" => false, "null" => false }, answers(rows, "cross_process"))
          assert_equal({ "larder" => true, "memory" => false, "null" => false }, answers(rows, "app_killed"))
          assert_equal({ "larder" => true, "memory" => true, "null" => false }, answers(rows, "serializes"))
          assert_equal({ "larder" => "disk", "memory" => "memory (own)", "null" => false }, answers(rows, "limited_by"))
          assert_equal({ "larder" => false, "memory" => false, "null" => true }, answers(rows, "local_store"))
          assert_equal({ "larder" => true, "memory" => true, "null" => false }, answers(rows, "evicts"))
          assert_equal(["no server"], answers(rows, "server_killed").values.uniq)
          %w[atomic_increment fork_safe race_condition_ttl expires long_keys within_limit].each do |question|
            assert_equal true, answers(rows, question)["larder"], question
          end
        end

        slow_test "a private server is restarted and killed, and met at another address" do
          skip Servers.fetch("redis").remedy unless Servers.fetch("redis").path

          layered, row = ask("larder-redis,redis")
          %w[cross_process remote cluster app_killed atomic_increment fork_safe].each do |question|
            assert_equal true, answers([layered], question)["larder-redis"], layered["answers"][question]
          end
          assert_equal "disk", answers([layered], "limited_by")["larder-redis"]
          %w[cross_process remote cluster app_killed local_store compression atomic_increment].each do |question|
            assert_equal true, answers([row], question)["redis"], "#{question}: #{row["answers"][question]}"
          end
          %w[server_restart server_killed].each { |question| assert_equal false, answers([row], question)["redis"] }
          assert_equal "memory (server)", answers([row], "limited_by")["redis"]
        end

        test "a contender that cannot be had is a row that says why" do
          with_directory do |dir|
            outcome = lab("features", "--quick", "--dir", dir, "--only", "gemless,null", "--require", fixture("liar"))
            assert_equal 0, outcome.status, outcome.err
            assert_match(/^  gemless +not tested: the gem no-gem-has-this-name is missing/, outcome.out)
            assert_empty Dir.children(dir)
          end
        end

        slow_test "an interrupted run leaves no process and no file behind" do
          with_directory do |dir|
            pid = Process.spawn(RbConfig.ruby, LabHelper::EXECUTABLE, "features", "--dir", dir, "--only", "larder",
                                out: File::NULL, err: File::NULL)
            eventually { Dir.glob("#{dir}/*/*/cache.larder").any? }
            Process.kill(:INT, pid)
            assert_equal 130, Process.wait2(pid).last.exitstatus
            eventually { Dir.empty?(dir) && processes(dir).empty? }
          end
        end

        test "what makes no sense is refused, help is not" do
          assert_match(/unknown contender x/, lab("features", "--only", "x").err)
          help = lab("features", "--help")
          assert_equal 0, help.status
          assert_empty(help.out.lines.map(&:chomp).select { |line| line.size > 80 })
        end

        private

        # Rows as the details of the report hold them.
        def ask(names)
          with_directory do |dir|
            file = File.join(dir, "out.json")
            outcome = lab("features", "--quick", "--seed", "1", "--only", names, "--json", file, "--dir", dir)
            assert_equal 0, outcome.status, outcome.out + outcome.err
            assert_equal ["out.json"], Dir.children(dir)
            assert_empty processes(dir)
            chapter = JSON.parse(File.read(file))["chapters"].first
            # There may be warnings about the machine.
            assert_empty chapter["warnings"].grep(/a process failed/)
            chapter["details"]["rows"]
          end
        end

        def answers(rows, question)
          rows.to_h { |row| [row["name"], row.dig("answers", question, "answer")] }
        end
      end
    end
  end
end
