# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The command with real servers, a real proxy and real processes.
      class NetworkTest < ActiveSupport::TestCase
        SMALL = %w[network --quick --rounds 1 --seed 1 --rtt 1ms --bandwidth 1gbit --payload hello --codecs none].freeze

        setup { skip "redis-server is not installed" unless Servers.fetch("redis").path }

        test "a store behind the proxy takes its round trips, a local one is measured beside it" do
          with_directory do |dir|
            json = File.join(dir, "run.json")
            run = lab(*SMALL, "--only", "memory,redis", "--json", json, "--dir", dir)
            assert_equal 0, run.status, run.err
            assert_match(/^A short String, over the round-trip time/, run.out)
            assert_match(/^What the proxy itself adds/, run.out)
            measures = Document.load(json).measures.to_h { |measure| [measure.key, measure.samples] }
            far = measures.fetch("network/hello/read/1000us/unlimited/redis")
            assert_operator far.min, :>=, 0.001
            assert_includes measures.keys, "network/hello/write/local/memory"
            assert_equal ["run.json"], Dir.children(dir)
            assert_empty processes(dir)
          end
        end

        slow_test "a running server is measured behind the proxy, its keys stay, and it goes on running" do
          with_directory do |dir|
            server = Servers.fetch("redis-loopback").new(dir).start
            speak(server, "SET theirs 1\r\n")
            run = lab(*SMALL, "--only", "redis", "--redis-url", "redis://127.0.0.1:#{server.endpoint["port"]}/0")
            assert_equal 0, run.status, run.err
            assert_match(/^  redis, read +\d/, run.out)
            assert_match(/\$1\r\n1/, speak(server, "GET theirs\r\n"))
            assert_match(/keys=1,/, speak(server, "INFO keyspace\r\n"))
          ensure
            server&.stop
          end
        end

        slow_test "codecs are measured over bandwidths" do
          run = lab(*SMALL, "--only", "memory", "--bandwidth", "50mbit", "--codecs", "marshal+none,marshal+gzip-6",
                    "--payload", "ruby:['some text '] * 3000", env: { "COLUMNS" => "150" })
          skip "the gems of the codecs are not installed" if run.err.include?("gems are not installed")
          assert_equal 0, run.status, run.err
          assert_match(/^  marshal\+gzip-6, read +\d/, run.out)
          assert_match(/pays below/, run.out)
        end

        slow_test "a payload that cannot be serialized is a row that says so" do
          run = lab(*SMALL, "--only", "redis", "--payload", "ruby:proc {}")
          assert_equal 1, run.status
          assert_match(/redis: invalid: TypeError: no _dump_data is defined for class Proc/, run.err)
        end

        slow_test "a server that is killed voids its row, others go on, and nothing is left behind" do
          with_directory do |dir|
            run = Thread.new { lab(*SMALL, "--rounds", "3", "--only", "redis,memory", "--dir", dir) }
            server = eventually { processes(dir).find { |pid| program(pid) == "redis-server" && measuring?(dir) } }
            Process.kill(:KILL, server)
            outcome = run.value
            assert_equal 1, outcome.status
            assert_match(/redis: invalid: .*redis-server.*/, outcome.err)
            assert_match(/memory, read/, outcome.out)
            assert_empty Dir.children(dir)
          end
        end

        slow_test "after SIGKILL neither proxy nor server nor file stays" do
          with_directory do |dir|
            pid = Process.spawn(RbConfig.ruby, EXECUTABLE, *SMALL, "--rounds", "50", "--only", "redis", "--dir", dir,
                                out: File::NULL, err: File::NULL, pgroup: true)
            eventually { processes(dir).any? { |each| program(each) == "redis-server" } && measuring?(dir) }
            Process.kill(:KILL, pid)
            Process.wait(pid)
            assert(eventually { processes(dir).empty? && Dir.empty?(dir) })
          end
        end

        test "wrong usage is told, help fits a terminal, and the list names what there is" do
          run = lab("network", "--rtt", "5")
          assert_equal 2, run.status
          assert_match(/--rtt 5: a duration is written/, run.err)
          help = lab("network", "--help")
          assert_equal 0, help.status
          assert_empty(help.out.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_match(/serializers: larder, marshal/, lab("network", "--list").out)
        end

        private

        def speak(server, request)
          TCPSocket.open(*server.endpoint.values_at("host", "port")) do |connection|
            connection.write(request)
            connection.readpartial(1000)
          end
        end

        def program(pid)
          File.basename(File.binread("/proc/#{pid}/cmdline").split(/[\0 ]/).first.to_s)
        rescue SystemCallError
          nil
        end

        # A worker and a proxy run.
        def measuring?(dir)
          lines = processes(dir).filter_map do |pid|
            File.binread("/proc/#{pid}/cmdline")
          rescue SystemCallError
            nil
          end
          %w[network/worker.rb proxy/main.rb].all? { |script| lines.any? { |line| line.include?(script) } }
        end
      end
    end
  end
end
