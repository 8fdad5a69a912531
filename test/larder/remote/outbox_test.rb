# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

# Larder::Remote::Client and Larder::Remote::Outbox, without a LarderStore.
class LarderRemoteOutboxTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include Processes

  Remote = Larder::Remote
  Entry = ActiveSupport::Cache::Entry

  # Does not answer while it is down.
  class Far < ActiveSupport::Cache::MemoryStore
    attr_accessor :down

    %i[read_entry write_entry delete_entry write_multi_entries].each do |name|
      define_method(name) do |*arguments, **options|
        raise Errno::ECONNREFUSED if down

        super(*arguments, **options)
      end
    end
    private :read_entry, :write_entry, :delete_entry, :write_multi_entries

    def clear(*)
      down ? raise(Errno::ECONNREFUSED) : super
    end
  end

  setup do
    @far = Far.new
    @client = Remote::Client.new(@far, id: "far")
  end

  test "a client alone calls the store, and raises if that cannot serve" do
    assert @client.write("a", Entry.new(1), 60)
    assert_not @client.write("a", Entry.new(2), 60, unless_exist: true)
    assert_equal 1, @client.read("a").value
    assert_equal({ "a" => 1 }, @client.entries_of(@client.read_multi(%w[a b])).transform_values(&:value))
    assert_equal 5, @client.count(:increment, "n", 5, {})
    assert @client.delete("a")
    assert_nil @client.read("a")
    @client.write_multi({ "a" => Entry.new(1), "b" => Entry.new(2) }, nil)
    assert_equal 2, @client.delete_multi(%w[a b])
    assert_predicate @client, :answers?
    @far.down = true
    assert_raises(Larder::RemoteError) { @client.read("a") }
    assert_raises(Larder::RemoteError) { @client.write("a", Entry.new(1), nil) }
    assert_raises(Larder::RemoteError) { @client.clear("") }
    assert_not_predicate @client, :answers?
  end

  test "a change that the store does not take is listed, waited for and applied" do
    outbox = new_outbox
    @far.write("a", "old")
    applied = []
    outbox.when_applied { |*change| applied << change }
    assert_predicate outbox.journal, :quiet?
    assert_equal "done", outbox.change(:delete, ["b"]) { "done" }
    assert_raises(Larder::RemoteError) { without_answers { outbox.change(:delete, ["a"]) { @client.delete("a") } } }
    assert_equal [true, 1], outbox.stats.values_at(:waiting, :listed)
    assert(eventually { outbox.ready? })
    assert_not @far.exist?("a")
    assert_equal [[:delete, ["a"]]], applied
    assert_raises(Remote::Waiting) { @client.read("a") } # gets the delete once more
    assert_equal [["other"], []], [outbox.to_ask(%w[a other]), outbox.to_ask(["a"])]
    assert_nil @client.read("other")
  end

  test "a change that is interrupted is listed, and one that raises for what it was given is not" do
    outbox = new_outbox
    assert_raises(ArgumentError) { outbox.change(:clear, [""]) { raise ArgumentError } }
    assert_equal 0, outbox.stats[:listed]
    catch(:out) { outbox.change(:delete, ["a"]) { throw :out } }
    assert_equal 1, outbox.stats[:listed]
  end

  test "a count that the store refuses for what it was given is not expected to arrive" do
    outbox = new_outbox
    @client.write("n", Entry.new([1]), 60)
    [NoMethodError, ArgumentError, TypeError, FloatDomainError, Encoding::CompatibilityError].each do |error|
      @far.define_singleton_method(:increment) { |*, **| raise error, "of the arguments" } unless error == NoMethodError
      assert_raises(error) { @client.count(:increment, "n", 1, {}) }
      assert_predicate outbox.journal, :quiet?, error
    end
    @far.define_singleton_method(:increment) { |*, **| loop { Thread.pass } }
    thread = Thread.new { @client.count(:increment, "n", 1, {}) }
    thread.report_on_exception = false
    Thread.pass until thread.backtrace.to_a.any? { |frame| frame.include?("pass") }
    thread.raise(ArgumentError, "of another thread")
    assert_raises(ArgumentError) { thread.value }
    assert_not_predicate outbox.journal, :quiet?
  end

  test "a change that another process has listed is known at once" do
    outbox = new_outbox
    assert_predicate outbox.journal, :quiet?
    in_child { new_outbox.note(:delete, ["a"]) }
    assert_not_predicate outbox.journal, :quiet?
    assert_raises(Larder::RemoteError) { without_answers { @client.read("other") } }
    assert(eventually { outbox.ready? })
    assert_nil @client.read("other")
  end

  private

  def new_outbox
    Remote::Outbox.new(@client, path_of("journal"))
  end

  def without_answers
    @far.down = true
    yield
  ensure
    @far.down = false
  end
end
