# frozen_string_literal: true

# A private Redis Cluster of three masters on ports of the loopback interface, without replicas. Who uses it loads
# the gem redis-clustering.

require "support/servers"
require "redis_client"

# Its nodes can be killed, stopped and started again. Some of what they keep on disk names the others, so that they find
# each other again.
class RedisCluster
  # Milliseconds after which a node that does not answer is taken for dead by the others.
  TIMEOUT = 500
  SLOTS = 16_384
  # Seconds until all nodes agree.
  PATIENCE = 120

  # One of its servers.
  class Node < Larder::Lab::Servers::RedisLoopback
    class << self
      # As of the server that has this name.
      def path = superclass.path
      def binary = superclass.binary
      def remedy = superclass.remedy
    end

    # @return [Integer]
    attr_reader :port

    # @return [Array<String>]
    def arguments
      [*super, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", bus.to_s,
       "--cluster-node-timeout", TIMEOUT.to_s, "--cluster-require-full-coverage", "no"]
    end

    # @return [Integer] the port on which nodes talk to each other
    def bus
      @bus ||= free_port
    end

    # @return [String]
    def url
      "redis://127.0.0.1:#{port}"
    end

    # @return [Object] the answer
    def call(*command)
      client = RedisClient.new(url: url, timeout: 2)
      client.call(*command)
    ensure
      client&.close
    end
  end

  # @return [Array<Node>]
  attr_reader :nodes

  # @param directory [String] an empty one
  # @param count [Integer] how many masters
  def initialize(directory, count: 3)
    @nodes = Array.new(count) do |number|
      place = File.join(directory, number.to_s)
      Dir.mkdir(place)
      Node.new(place)
    end
    @dead = []
  end

  # @return [self]
  def start
    @nodes.each(&:start)
    share_slots
    first = @nodes.first
    @nodes.drop(1).each { |node| first.call("CLUSTER", "MEET", "127.0.0.1", node.port.to_s, node.bus.to_s) }
    wait_until_whole
  end

  # @return [void]
  def stop
    @nodes.each(&:stop)
  end

  # @return [Array<String>]
  def urls
    @nodes.map(&:url)
  end

  # @return [Node] that has the key
  def node_of(key)
    @nodes[RedisClient::Cluster::KeySlotConverter.convert(key) / share]
  end

  # Waits until each node knows that all answer.
  # @return [self]
  def wait_until_whole
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    until @nodes.all? { |node| whole?(node) }
      raise "the cluster is not whole" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.05
    end
    self
  end

  # @return [void]
  def kill(node)
    TestServers.kill(node)
    @dead << node
  end

  # Starts the nodes that were killed, resumes those that were stopped, and waits.
  # @return [self]
  def heal
    (@nodes - @dead).each { |node| Process.kill(:CONT, node.pid) }
    @dead.each(&:start).clear
    wait_until_whole
  end

  private

  def share
    (SLOTS.to_f / @nodes.size).ceil
  end

  def share_slots
    @nodes.each_with_index do |node, number|
      last = [(number + 1) * share, SLOTS].min - 1
      node.call("CLUSTER", "ADDSLOTSRANGE", (number * share).to_s, last.to_s)
      node.call("CLUSTER", "SET-CONFIG-EPOCH", (number + 1).to_s)
    end
  end

  def whole?(node)
    said = node.call("CLUSTER", "INFO")
    said.include?("cluster_state:ok") && said.include?("cluster_slots_ok:#{SLOTS}") &&
      said.include?("cluster_known_nodes:#{@nodes.size}")
  rescue RedisClient::Error
    false
  end
end
