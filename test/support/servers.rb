# frozen_string_literal: true

# Private servers on Unix sockets for tests, started and stopped as the lab's are.

require_relative "../../lab/lib/larder/lab/errors"
require_relative "../../lab/lib/larder/lab/servers"
require "tmpdir"

module TestServers
  # A test case whose server is a PostgreSQL. The gem pg is in the bundle of one stack.
  module Postgresql
    private

    def server_name
      Gem.loaded_specs.key?("pg") || skip("the gem pg is not in the bundle")
      "postgresql"
    end
  end

  module_function

  # @param name [String] in Larder::Lab::Servers
  # @return [Hash{String => Object}, nil] its endpoint; nil where it is not installed
  def endpoint(name)
    server(name)&.endpoint
  end

  # @return [Larder::Lab::Server, nil] the same, started
  def server(name)
    @servers ||= {}
    @servers.fetch(name) { @servers[name] = start(name) }
  end

  # @param server [#pid, #stop] that runs, or has died already
  # @return [Array<Integer>] its process, and those of its connections, as PostgreSQL has them
  def pids(server)
    [server.pid, *Dir["/proc/#{server.pid}/task/*/children"].flat_map { |file| File.read(file).split.map(&:to_i) }]
  end

  # With the processes of its connections, which answer for a moment longer.
  #
  # @param server [#pid, #stop] (see .pids)
  # @return [void]
  def kill(server)
    pids(server).each do |pid|
      Process.kill(:KILL, pid)
    rescue Errno::ESRCH
      nil # it has ended already
    end
    server.stop
  end

  def start(name)
    type = Larder::Lab::Servers.fetch(name)
    return unless type.path

    directory = Dir.mktmpdir("larder-test-#{name}")
    server = type.new(directory).tap(&:start)
    Minitest.after_run do
      server.stop
      FileUtils.rm_rf(directory)
    end
    server
  end
  private_class_method :start
end
