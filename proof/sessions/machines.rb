# frozen_string_literal: true

# Two machines with sessions over `cache:` on one Redis, which can be killed and stopped. The links to it can be cut and
# held up.

require "English"
require "json"
require "rbconfig"
require "socket"
require_relative "../../lab/lib/larder/lab/errors"
require_relative "../../lab/lib/larder/lab/servers"

module SessionProof
  # Starts the machines, the Redis and the relay, asks the machines, and makes outages.
  class Machines
    COUNT = 2
    PROGRAM = File.expand_path("machine.rb", __dir__)
    RELAY = File.expand_path("../machines/relay.rb", __dir__)
    # Kinds of outages. "hold" and "cut" are of one machine's link, the others of all.
    OUTAGES = %w[kill stop cut hold].freeze
    HELD = %w[both there back].freeze
    # A machine may have an old copy for this many seconds: 3, and what a busy machine takes.
    OLD_COPY = 6
    private_constant :PROGRAM, :RELAY, :HELD

    # A machine cannot tell.
    class Unknown < StandardError; end

    # A Redis that keeps all that it has answered for, if its process is killed: it writes its log before it answers.
    class Store < Larder::Lab::Servers::RedisLoopback
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
        [*super, "--appendonly", "yes", "--appendfsync", "no", "--maxmemory-policy", "noeviction"]
      end

      # @return [String]
      def url
        "redis://127.0.0.1:#{port}/0"
      end
    end

    # @return [Boolean] true if each machine has copies of the sessions
    attr_reader :copies

    # @param directory [String] an empty one
    # @param fault [String, nil] a name of {FaultsOfMachines}
    # @param copies [Boolean] true: each machine has copies of the sessions
    def initialize(directory, fault: nil, copies: false)
      @directory = directory
      @fault = fault
      @copies = copies
      @store = Store.new(File.join(directory, "redis").tap { |path| Dir.mkdir(path) })
      @machines = []
    end

    # @return [void]
    def start
      @store.start
      relay = ["--disable=gems", RELAY, *([@store.port.to_s] * COUNT)]
      @relay = IO.popen([{ "RUBYOPT" => nil }, RbConfig.ruby, *relay], "r+")
      ports = Array.new(COUNT) { Integer(@relay.gets) }
      @machines = ports.each_with_index.map { |port, number| IO.popen(command(port, number), "r+") }
      @machines.each { |machine| machine.gets or raise "a machine has not started" }
    end

    # @return [void]
    def stop
      Process.kill(:CONT, @store.pid) if @store.pid
      [*@machines, @relay].compact.each(&:close)
      @store.stop
    end

    # @param kind [String] of {OUTAGES}
    # @param random [Random]
    # @yield during the outage
    # @return [void]
    def outage(kind, random)
      link = random.rand(COUNT)
      case kind
      when "kill" then Process.kill(:KILL, @store.pid) && @store.stop
      when "stop" then Process.kill(:STOP, @store.pid)
      when "cut" then order(link, "cut")
      when "hold" then order(link, "hold #{HELD.sample(random: random)}")
      end
      yield
      case kind
      when "kill" then @store.start
      when "stop" then Process.kill(:CONT, @store.pid)
      else order(link, "pass")
      end
    end

    # @return [Array<UNIXSocket>] a connection to each machine
    def connect
      Array.new(COUNT) { |number| UNIXSocket.new(socket(number)) }
    end

    private

    def socket(number)
      File.join(@directory, "machine-#{number}.socket")
    end

    def command(port, number)
      job = { socket: socket(number), file: File.join(@directory, "machine-#{number}.larder"), fault: @fault,
              remote: "redis://127.0.0.1:#{port}/0", backplane: (@store.url if @copies) }
      [RbConfig.ruby, "-w", "-I#{File.expand_path("../../lib", __dir__)}", PROGRAM, JSON.generate(job.compact)]
    end

    def order(link, how)
      @relay.puts("#{link} #{how}")
      @relay.gets or raise "the relay has ended"
    end
  end
end
