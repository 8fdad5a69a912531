# frozen_string_literal: true

require "test_helper"
require "larder/lab/layered/options"
require "larder/lab/layered/runner"
require "larder/lab/layered/simulated"
require "stringio"

module Larder
  module Lab
    module Layered
      # The model, by itself, and beside a Redis that counts.
      class FleetTest < ActiveSupport::TestCase
        # How far formulae and counts may be apart, as the rates of a few seconds are random.
        TOLERANCE = 0.15

        test "connections: a pool for each process, one listener for each machine, one publisher for each process" do
          assert_equal [96_000, 1000, 32_000], connections(fleet)
          assert_equal [160_000, 0, 0], connections(fleet(threads: 16, backplane: false))
          assert_equal 0, fleet(changes: 0).publishers
        end

        test "a connection that has just been used takes more memory" do
          assert_equal [129_000 * 1800, 129_000 * 27_000], %i[idle busy].map { |state| fleet.connection_bytes(state) }
        end

        test "each machine is told of each change" do
          assert_equal 100_000, fleet.messages
          assert_equal 0, fleet(backplane: false).messages
          assert_in_delta fleet.message_bytes * 100_000, fleet.message_traffic
          assert_equal [1000.0, 1000.0, 0.0], [fleet, fleet(changes: 0), fleet(backplane: false)].map(&:pings)
        end

        test "a key is asked for once by each machine in local_expires_in, at most" do
          hot = fleet(keys: 10, reads: 1e9, changes: 0, expires: 5, rtt: 0)
          assert_in_delta hot.most_refreshes, hot.remote_reads, 1
          assert_operator fleet.remote_reads, :<, fleet.most_refreshes
        end

        test "without reads found, all go to the remote store" do
          alone = fleet(expires: 0.0)
          assert_equal [0.0, alone.reads + alone.changes, 0.0], [alone.hit_ratio, alone.remote_requests, alone.copies]
        end

        test "with a copy of every key a file has all of them" do
          warm = fleet(keys: 10, reads: 1e9, changes: 0, expires: 60, rtt: 0)
          assert_in_delta 10, warm.copies, 0.01
          assert_in_delta 10 * (2000 + 40 + Fleet::OVERHEAD), warm.copy_bytes, 10
        end

        test "bytes of a message are what Redis sends" do
          skip "redis-server is not installed" unless Servers.fetch("redis").path
          with_directory do |dir|
            server = Servers.fetch("redis-loopback").new(dir).start
            listener = TCPSocket.new(*server.endpoint.values_at("host", "port"))
            listener.write("SUBSCRIBE larder\r\n")
            6.times { listener.gets }
            tell("traffic/1234", server.endpoint["url"], dir)
            assert listener.wait_readable(60), "nothing was told"
            sent = Array.new(7) { listener.gets }.sum(&:bytesize)
            assert_in_delta fleet(key_bytes: "traffic/1234".bytesize).message_bytes, sent, 2
          ensure
            listener&.close
            server&.stop
          end
        end

        { "what the formulae say" => {},
          "the same without a backplane" => { backplane: false, expires: 0.5 },
          "as much where nothing changes" => { changes: 0.0, expires: 0.3, keys: 1000 } }.each do |words, changes|
          slow_test "24 processes ask of a Redis #{words}" do
            skip "redis-server is not installed" unless Servers.fetch("redis").path
            expected, counted = simulated(changes)
            Simulated.rows(expected, counted).each do |what, formula, count, off|
              assert_in_delta 0, off, TOLERANCE, "#{what}: #{formula} by formula, #{count} counted"
            end
          end
        end

        private

        # A fleet of the size of a run's, but for some.
        def simulated(changes)
          plan = Options.parse(%w[--remotes redis --rtt 0 --seed 1]).plan
          plan.simulated = plan.simulated.with(**changes)
          results = Runner.new(plan, progress: Progress.new(CLI::Terminal.new(StringIO.new)))
                          .run([Task.new(part: "fleet", remote: "redis", round: 1)])
          assert_empty(results.rejected.map { |_, error| error.message })
          results.simulation
        end

        # In a process of its own, whose threads end with it.
        def tell(key, url, dir)
          program = <<~RUBY
            require "larder/lab/layered/arrangement"
            require "active_support"
            require "active_support/cache"
            place = { "arrangement" => "backplane", "remote" => "redis", "url" => ARGV[1], "backplane_url" => ARGV[1],
                      "path" => ARGV[2], "expires" => 5 }
            Larder::Lab::Layered::Arrangement.open(place).delete(ARGV[0])
          RUBY
          libraries = $LOAD_PATH.grep(/\/(?:lab\/)?lib\z/).flat_map { |path| ["-I", path] }
          _, err, status = Open3.capture3(RbConfig.ruby, *libraries, "-e", program, key, url, "#{dir}/cache.larder")
          assert status.success?, err
        end

        def connections(fleet)
          [fleet.remote_connections, fleet.listeners, fleet.publishers]
        end

        def fleet(**changes)
          Fleet.new(machines: 1000, workers: 32, threads: 3, reads: 3_200_000.0, changes: 100.0, keys: 100_000,
                    skew: 0.9, bytes: 2000, key_bytes: 40, expires: 60.0, backplane: true, rtt: 0.0005, **changes)
        end
      end
    end
  end
end
