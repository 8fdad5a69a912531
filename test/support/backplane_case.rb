# frozen_string_literal: true

# The common part of tests of a backplane with several processes and failing servers.

require "support/remote_case"
require "support/slow_proxy"
require "redis"

# A test case whose machines have a store of files behind them, which does not fail, unless a test names another one. A
# class says with `server_name` which server the backplane is if it is not Redis.
class BackplaneCase < RemoteCase
  # The life of copies in seconds: only a message, or the listener, ends them in a test.
  LONG = 3600

  # A process that answers calls of its store.
  class Peer
    # @return [Integer]
    attr_reader :pid

    # @yieldreturn [ActiveSupport::Cache::Store] made in the process
    def initialize(&block)
      orders, @orders = IO.pipe
      @answers, answers = IO.pipe
      @pid = fork do
        [@orders, @answers].each(&:close)
        serve(block, orders, answers)
      end
      [orders, answers].each(&:close)
    end

    # @return [Object] what the method of the store returned
    def call(method, *arguments, **options)
      order(method, *arguments, **options)
      answer
    end

    # Does not wait for the answer.
    def order(*call, **options)
      @orders.write(Marshal.dump([*call, options]))
    end

    # @return [Object] the oldest one that was not asked for
    def answer
      Marshal.load(@answers)
    end

    # Ends it without any chance to tidy up.
    def kill
      Process.kill(:KILL, pid)
      Process.wait(pid)
      @pid = nil
    end

    private

    def serve(block, orders, answers)
      store = block.call
      loop do
        method, *arguments, options = Marshal.load(orders)
        target = method == :trusted? ? store.cache : store
        answers.write(Marshal.dump(target.public_send(method, *arguments, **options)))
      end
    ensure
      exit!(0)
    end
  end

  setup { @server = start(server_name) }

  teardown do
    stopped.each { |pid| Process.kill(:CONT, pid) }
    @proxies&.each(&:stop)
    @peers&.each { |peer| peer.kill if peer.pid }
  end

  private

  def server_name
    "redis"
  end

  # @return [Peer] a process of a machine
  def peer(name, **options)
    Peer.new { machine(name, **options) }.tap { |made| (@peers ||= []) << made }
  end

  def machine(name, remote: [:file_store, path_of("remote")], backplane: self.backplane, **options)
    super(name, remote: remote, backplane: backplane, local_expires_in: LONG, **options)
  end

  # @return [ActiveSupport::Cache::LarderStore] a machine that trusts its copies
  def listening(name, **options)
    machine(name, **options).tap do |store|
      assert(eventually { store.read("none") || store.cache.trusted? }, "no trust")
    end
  end

  def in_time(&block)
    Timeout.timeout(LONGEST, &block)
  end

  def backplane
    @server.endpoint.fetch("url")
  end

  # @return [SlowProxy] before the server
  def proxy
    SlowProxy.new(@server.endpoint.fetch("socket")).tap { |made| (@proxies ||= []) << made }
  end

  # Stops all processes of the server.
  def halt(server)
    pids = TestServers.pids(server)
    pids.each { |pid| Process.kill(:STOP, pid) }
    stopped.concat(pids)
  end

  def resume(_server)
    stopped.each { |pid| Process.kill(:CONT, pid) }.clear
  end

  def stopped
    @stopped ||= []
  end
end
