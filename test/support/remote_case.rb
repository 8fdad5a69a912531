# frozen_string_literal: true

# What the tests of two levels over real servers share. A machine is a file of its own here.

require "support/store_case"
require "support/servers"

# A test case with `machine`, and with servers that are stopped after the test. A class says what `remote:` is.
class RemoteCase < StoreCase
  # Seconds between two looks at what is expected to come.
  LOOK = 0.01
  # Seconds that a test of many changes goes on while servers fail.
  LOAD = 2

  teardown do
    @machines&.each { |store| store.instance_variable_get(:@backplane)&.stop }
    @servers&.each(&:stop)
    @places&.each { |place| FileUtils.rm_rf(place) }
  end

  private

  # @return [ActiveSupport::Cache::LarderStore] the one of another machine, or of another process of it
  def machine(name, remote: self.remote, **options)
    new_store("#{name}.larder", remote: remote, **options).tap { |store| (@machines ||= []) << store }
  end

  # @param name [String, Class] of a server, or what is started alike
  # @return [Larder::Lab::Server] started, in a directory of its own
  def start(name)
    type = name.is_a?(String) ? Larder::Lab::Servers.fetch(name) : name
    skip "#{type.binary} is not installed" unless type.path

    (@places ||= []) << Dir.mktmpdir("larder-test")
    type.new(@places.last).tap { |server| (@servers ||= []) << server }.start
  end

  # @return [Larder::Lab::Server] one for all tests of this process, which start it again if they kill it
  def start_once(name)
    TestServers.server(name) || skip("#{name} is not installed")
  end

  def halt(server)
    Process.kill(:STOP, server.pid)
  end

  def resume(server)
    Process.kill(:CONT, server.pid)
  end

  # @return [Boolean] has the remote store all changes of the machine?
  def caught_up?(store)
    store.read("other")
    store.instance_variable_get(:@remote).outbox.journal.empty?
  end

  # One machine changes keys, each to higher and higher numbers or to nothing, while another one reads them, and the
  # block makes servers fail. The first must never see less than its last change, the second not once all is applied.
  def under_load(one, two, names)
    last = names.to_h { |name| [name, 0] }
    ends = false
    changing = Thread.new do
      (1..).each { |number| ends ? break : change(one, names[number % names.size], number, last) }
    end
    reading = Thread.new { Kernel.sleep(0.001) && two.read_multi(*names.sample(3)) until ends }
    begin
      yield
    ensure
      ends = true
      [changing, reading].each(&:join)
    end
    assert(eventually { caught_up?(one) && caught_up?(two) })
    one.clear(namespace: "none") # begins when all is applied
    travel(120) { assert_empty(names.select { |name| older?(two.read(name), last[name]) }) }
    assert_operator last.values.max, :>, 50
  end

  def change(store, name, number, last)
    last[name] = number
    number.even? ? store.write(name, number) : store.delete(name)
    seen = store.read(name)
    flunk "#{name} is #{seen}, after change #{number}" if older?(seen, number)
  end

  def older?(seen, number)
    !seen.nil? && seen < number
  end
end
