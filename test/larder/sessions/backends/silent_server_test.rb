# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "dalli"
require "larder/sessions"
require "support/servers"

module Larder
  module Sessions
    module Backends
      # `backed_by:` on two memcached servers. One is silent, and Dalli leaves its keys out of an answer.
      class SilentServerTest < ActiveSupport::TestCase
        include TemporaryCaches

        KEYS = Array.new(12) { |number| number.to_s.rjust(32, "k") }

        setup do
          type = Larder::Lab::Servers.fetch("memcached")
          skip "memcached is not installed" unless type.path

          @servers = %w[a b].map { |name| type.new(path_of(name).tap { |path| Dir.mkdir(path) }).tap(&:start) }
        end

        teardown { @servers&.each(&:stop) }

        test "a copy on a server that is silent does not count as missing" do
          first = machine("first")
          KEYS.each { |key| assert first.begin(key, { "user_id" => 1 }) }
          @servers.each_with_index do |server, index|
            Process.kill(:STOP, server.pid)
            found = KEYS.map { |key| find(machine("lost#{index}#{key.to_i}"), key) }
            Process.kill(:CONT, server.pid)
            assert_includes found, :unknown
            refute_includes found, :missing
          end
        end

        private

        # Asks with a file and connections of its own.
        def find(machine, key)
          machine.find(key) ? :found : :missing
        rescue UnavailableError
          :unknown
        end

        def machine(name)
          urls = @servers.map { |server| server.endpoint.fetch("url") }
          Sessions.repository(file: path_of("#{name}.larder"), size: 1 << 20,
                              backed_by: [:mem_cache_store, *urls, { socket_timeout: 0.2, failover: false }])
        end
      end
    end
  end
end
