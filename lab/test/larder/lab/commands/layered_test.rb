# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The command with real servers, a real proxy and real processes.
      class LayeredTest < ActiveSupport::TestCase
        SMALL = %w[layered --quick --seed 1 --remotes redis --local-expires-in 200ms --expires-in 300ms].freeze

        slow_test "near and far: times, the share of the file, ages within their bounds, regions, the simulation" do
          skip "redis-server is not installed" unless Servers.fetch("redis").path
          with_directory do |dir|
            json = File.join(dir, "run.json")
            run = lab(*SMALL, "--rtt", "1ms,20ms", "--dir", dir, "--json", json, env: { "COLUMNS" => "100" })
            assert_equal 0, run.status, run.out + run.err
            assert_sections run.out
            assert_times(Document.load(json).measures.to_h { |measure| [measure.key, measure.samples.first] })
            assert_equal ["run.json"], Dir.children(dir)
            assert_empty processes(dir)
          end
        end

        slow_test "after SIGKILL no server, proxy or file stays" do
          skip "redis-server is not installed" unless Servers.fetch("redis").path
          with_directory do |dir|
            pid = Process.spawn(RbConfig.ruby, EXECUTABLE, *SMALL, "--dir", dir, out: File::NULL, err: File::NULL,
                                                                                 pgroup: true)
            eventually { processes(dir).size > 4 }
            Process.kill(:KILL, pid)
            Process.wait(pid)
            assert(eventually { processes(dir).empty? && Dir.empty?(dir) })
          end
        end

        test "a server that is not there is said, and the exit code tells" do
          run = lab(*%w[layered --quick --remotes memcached --rtt 0], env: { "PATH" => "/" })
          assert_equal 1, run.status
          assert_match(/memcached is not on the PATH: install it/, run.out.gsub(/\s+/, " "))
        end

        test "the model measures nothing, and follows its options" do
          run = lab("layered", "--model", "--machines", "40", "--workers", "5", "--threads", "2")
          assert_equal 0, run.status, run.err
          assert_empty run.err
          assert_match(/^40 machines × 5: connections/, run.out)
          assert_match(/^  remote store +threads of each process, 5 at most +400$/, run.out)
          assert_match(/^  backplane +one listener of each machine +40$/, run.out)
          refute_match(/Time of a call/, run.out)
        end

        test "wrong usage is told, and help fits a terminal" do
          run = lab("layered", "--rtt", "5")
          assert_equal 2, run.status
          assert_match(/--rtt 5: a duration is written/, run.err)
          help = lab("layered", "--help")
          assert_equal 0, help.status
          assert_empty(help.out.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_match(/--local-expires-in TIME/, help.out)
        end

        private

        def assert_sections(text)
          ["Time of a call: redis", "A machine that reads while another changes", "How old an answer is after",
           "Two regions", "The formulae beside a Redis that counts", "1,000 machines × 32: connections"]
            .each { |title| assert_match(/^#{title}/, text) }
          refute_match(/This is a fault/, text)
        end

        # A proxy adds what it was told at least.
        def assert_times(seconds)
          assert_operator seconds.fetch("layered/redis/bare/20000us/hit"), :>=, 0.02
          assert_operator seconds.fetch("layered/redis/copies/20000us/miss"), :>=, 0.02
          assert_operator seconds.fetch("layered/redis/backplane/20000us/write"), :>=, 0.04
          %w[copies backplane].each do |arrangement|
            assert_operator seconds.fetch("layered/redis/#{arrangement}/20000us/page"), :<, 0.02
          end
          assert_includes 0.0..1.0, seconds.fetch("layered/traffic/copies/20000us/by-file")
        end
      end
    end
  end
end
