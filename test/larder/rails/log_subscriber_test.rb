# frozen_string_literal: true

require "support/store_case"
require "larder/rails/log_subscriber"

module Larder
  class LogSubscriberTest < StoreCase
    setup do
      @before = ActiveSupport::LogSubscriber.logger
      @colors, ActiveSupport::LogSubscriber.colorize_logging = ActiveSupport::LogSubscriber.colorize_logging, false
      @lines = StringIO.new
      ActiveSupport::LogSubscriber.logger = ActiveSupport::Logger.new(@lines)
      LogSubscriber.attach_to(:larder)
    end

    teardown do
      LogSubscriber.detach_from(:larder)
      ActiveSupport::LogSubscriber.logger = @before
      ActiveSupport::LogSubscriber.colorize_logging = @colors
    end

    test "a wait has its key, its time, and whether it was in vain" do
      waiting(wait: 10, &:call)
      assert_match(/\A  Larder wait products\/7 \(\d+\.\d+ms\)\n\z/, @lines.string)
      @lines.truncate(@lines.rewind)
      waiting(wait: 0.05, &:itself)
      assert_match(/\A  Larder wait products\/7 \(\d+\.\d+ms, in vain\)$/, @lines.string)
      assert_equal "  Larder compute_alone products/7 (waited too long)\n", @lines.string.lines.last
    end

    test "an old value has its reason, and a refresh its time" do
      store.write("k", 1, expires_in: 0.01, stale_if_error: 60, stale_while_revalidate: 60)
      Kernel.sleep(0.02)
      store.fetch("k", stale_if_error: 60) { raise "down" }
      assert_match(/\A  Larder stale k \(stale_if_error\)\n\z/, @lines.string)
      store.delete("k")
      store.write("k", 1, expires_in: 0.01, stale_while_revalidate: 60)
      Kernel.sleep(0.02)
      store.fetch("k", stale_while_revalidate: 60) { 2 }
      assert(eventually { @lines.string.match?(/^  Larder refresh k \(\d+\.\d+ms\)$/) })
      assert_includes @lines.string.lines, "  Larder stale k (stale_while_revalidate)\n"
    end

    test "tags are named, also with bytes that are not text" do
      store.delete_tagged("a", "b\xFF")
      assert_match(/\A  Larder delete_tagged a, b\uFFFD \(\d+\.\d+ms\)\n\z/, @lines.string)
    end

    test "a log that takes no debug messages gets none, and the store collects nothing for it" do
      ActiveSupport::LogSubscriber.logger.level = Logger::INFO
      store.delete_tagged("a")
      assert_empty @lines.string
      assert_not ActiveSupport::Notifications.notifier.listening?("wait.larder")
    end

    test "simple calls are still answered in C, unless Rails is 7.1" do
      store.write("a", 1)
      assert_equal Store::Keys::INSTRUMENTS_KEYS ? true : false, store.stats[:fast_path][:on]
    end

    test "each event of Larder's own has its method" do
      names = %w[compute_alone delete_tagged refresh stale wait]
      assert_equal names, LogSubscriber.public_instance_methods(false).map(&:to_s).sort
    end

    private

    # Calls fetch while another thread computes the value. The block gets what ends that computation.
    def waiting(wait:)
      gate, begun = Queue.new, Queue.new
      other = Thread.new { store.fetch("products/7", single_flight: true) { begun << 1 and gate.pop } }
      begun.pop
      caller = Thread.new { store.fetch("products/7", single_flight: true, wait: wait) { 3 } }
      release = -> { eventually { store.cache.stats[:waits].positive? } && gate.push(1) }
      yield(release).equal?(release) && caller.join
      gate.push(1)
      [other, caller].each(&:join)
      store.delete("products/7")
    end
  end
end
