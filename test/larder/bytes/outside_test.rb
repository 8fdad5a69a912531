# frozen_string_literal: true

require "test_helper"
require "larder/bytes/outside"

class LarderOutsideTest < ActiveSupport::TestCase
  Outside = Larder::Outside
  Custom = Class.new(StandardError)

  # Raised into a thread that sleeps in the block.
  def raised_into(*given)
    asleep = Queue.new
    thread = Thread.new do
      asleep << true
      sleep
    rescue Exception => e # rubocop:disable Lint/RescueException -- whatever is raised is looked at
      e
    end
    asleep.pop
    Thread.pass until thread.stop?
    thread.raise(*given)
    thread.value
  end

  test "an exception of another thread is noted, in each form of raise, and is as Ruby makes it" do
    made = Custom.new("made")
    backtrace = ["elsewhere.rb:1:in `x'"]
    assert_instance_of RuntimeError, raised_into
    { ["text"] => [RuntimeError, "text"], [Custom] => [Custom, Custom.name],
      [Custom, "why"] => [Custom, "why"], [Custom, nil] => [Custom, Custom.name], [made] => [Custom, "made"],
      [made, "other"] => [Custom, "other"], [Interrupt, ""] => [Interrupt, ""] }.each do |given, (type, message)|
      error = raised_into(*given)
      assert_equal [type, message], [error.class, error.message], given.inspect
      assert Outside.raised?(error), given.inspect
    end
    assert_same made, raised_into(made)
    assert_equal backtrace, raised_into(Custom, "why", backtrace).backtrace
  end

  # Its class method takes what raise gives it.
  class Detailed < StandardError
    def self.exception(detail) = new("detail #{detail.fetch(:of)}")
  end

  test "raise refuses wrong arguments as ever, and gives a Hash to the exception's class" do
    thread = Thread.new { sleep }
    assert_raises(TypeError) { thread.raise(5) }
    assert_raises(TypeError) { thread.raise("text", "more") }
    assert_nil thread.kill.join.raise(Custom)
    assert_equal "detail 1", raised_into(Detailed, { of: 1 }).message
  end

  test "an exception that a thread or a fiber raises in itself is not noted" do
    [-> { raise Custom }, -> { Thread.current.raise(Custom) }, -> { Fiber.new { raise Custom }.resume }].each do |own|
      refute Outside.raised?(assert_raises(Custom, &own))
    end
  end

  test "an exception that is raised into a fiber is noted" do
    fiber = Fiber.new { Fiber.yield }
    fiber.resume
    assert Outside.raised?(assert_raises(Custom) { fiber.raise(Custom, "why") })
  end

  test "a limit's exception is noted inside of the call that set it, and no longer around it" do
    { [Custom] => Custom, [] => Exception }.each do |type, seen|
      inside = nil
      outside = assert_raises(type.first || Timeout::Error) do
        Timeout.timeout(0.01, *type) { sleep }
      rescue seen => e
        inside = e.cause || e
        raise
      end
      refute Outside.raised?(outside)
      assert_kind_of Exception, inside
    end
  end

  test "of two limits, the inner call leaves the exception of the outer one as it is" do
    seen = nil
    assert_raises(Custom) do
      Timeout.timeout(0.01, Custom) do
        Timeout.timeout(60, KeyError) { sleep }
      rescue Custom => e
        seen = Outside.raised?(e)
        raise
      end
    end
    assert seen
  end

  test "an error that is raised while such an exception is handled counts, but not one handled before" do
    Custom.new.then do |before|
      Outside.noted([before])
      raise before
    rescue Custom => e
      own = assert_raises(IOError) { raise IOError }
      assert_same e, own.cause
      assert Outside.raised?(own)
      refute Outside.raised?(own, since: e)
    end
  end

  test "a scheduler's limit that the interrupted code has set itself is its own" do
    fiber = Fiber.new { with_timeout { Fiber.yield } }
    fiber.resume
    refute Outside.raised?(assert_raises(Custom) { fiber.raise(Custom) })
  end

  def with_timeout
    yield
  end

  test "other Ractors raise and set limits as ever" do
    assert_equal "[ArgumentError, nil]", run_ruby(<<~RUBY, options: ["-W0"]).strip
      require "larder/bytes/outside"
      ractor = Ractor.new do
        thread = Thread.new { Thread.current.report_on_exception = false; sleep }
        Thread.pass until thread.stop?
        thread.raise(ArgumentError)
        [(thread.value rescue $!.class), Larder::Outside.left(KeyError.new)]
      end
      p(ractor.respond_to?(:take) ? ractor.take : ractor.value)
    RUBY
  end

  test "the memory of a process with such exceptions can be compacted, and the last of them stay noted" do
    assert_equal "[true, false]", run_ruby(<<~RUBY).strip
      require "larder/bytes/outside"
      errors = Array.new(20) do
        some = Array.new(200) { |i| KeyError.new("number \#{i}") }
        some.each { |error| Larder::Outside.noted([error]) }
        GC.compact
        some.select.with_index { |_, i| (i % 3).zero? }
      end
      p([errors.last.all? { |error| Larder::Outside.raised?(error) }, Larder::Outside.raised?(KeyError.new("another"))])
    RUBY
  end

  include Processes
end
