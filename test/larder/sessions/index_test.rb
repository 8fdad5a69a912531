# frozen_string_literal: true

require "test_helper"
require "timeout"
require "support/counted_sessions"

module Larder
  module Sessions
    # Changes of sessions that are interrupted between the session and its counters, by every means there is. What else
    # the index does is tested with the statistics.
    class IndexTest < ActiveSupport::TestCase
      include CountedSessions

      # What each does with work: that calls what it is given where it is to be interrupted.
      INTERRUPTIONS = {
        "an exception of another thread" => lambda do |work|
          thread = stopped_thread(work)
          thread.raise(IOError, "of another thread")
          assert_raises(IOError) { thread.join }
        end,
        "the end of a thread" => ->(work) { stopped_thread(work).kill.join },
        "a timeout" => ->(work) { assert_raises(Timeout::Error) { Timeout.timeout(0.3) { work.call(-> { sleep }) } } },
        "a signal" => lambda do |work|
          Process.wait(fork { work.call(-> { Process.kill(:TERM, Process.pid) && sleep }) })
          assert_equal Signal.list["TERM"], Process.last_status.termsig
        end,
        "a kill, an hour ago," => lambda do |work|
          Process.wait(fork { work.call(-> { Process.kill(:KILL, Process.pid) }) })
          cache.delete("counted")
        end
      }.freeze

      # What is there before, and what is interrupted.
      CHANGES = [
        [->(_name) {}, ->(name) { enter(name, 1) }],
        [->(name) { enter(name, 2) }, ->(name) { use(name) }],
        [->(name) { @repository.begin(key(name), { "cart" => 1 }) }, ->(name) { use(name, "user_id" => 3) }],
        [->(name) { enter(name, 4) }, ->(name) { @repository.commit(@repository.find(key(name)), {}) }],
        [->(name) { enter(name, 5) }, ->(name) { @repository.end(key(name)) }],
        [->(name) { enter(name, 6) },
         ->(name) { @repository.renew(@repository.find(key(name)), key("#{name} renewed"), { "user_id" => 6 }) }]
      ].freeze

      INTERRUPTIONS.each do |cause, interrupt|
        test "counts are corrected that #{cause} has left wrong" do
          backend = @repository.backend
          places = { backend => %i[add swap delete], backend.cache => %i[increment] }
          places.to_a.product(CHANGES).each_with_index do |((object, methods), (before, change)), i|
            instance_exec(i.to_s, &before)
            @now += 120
            instance_exec(interrupting(object, methods) { instance_exec(i.to_s, &change) }, &interrupt)
            (object.singleton_methods & methods).each { |name| object.singleton_class.remove_method(name) }
            @repository.repair_counts.join
            assert_equal sessions, [active(3600), active(3600, true)], "#{methods} #{i}"
          end
        end
      end

      test "a process that exits in order leaves nothing to count" do
        Process.wait(fork { enter("a", 1) })
        assert_nil @repository.repair_counts
        assert_equal 1, active(300)
      end

      test "counters that cannot be changed are corrected later" do
        enter("a", 1)
        cache = @repository.backend.cache
        cache.define_singleton_method(:increment) { |*, **| raise BusyError, "a lock timed out" }
        enter("b", 2)
        cache.singleton_class.remove_method(:increment)
        assert_equal ["a lock timed out"], @reports.map(&:message)
        @reports.clear
        @repository.repair_counts.join
        assert_equal 2, active(300)
      end

      test "a session that is refused leaves no doubt" do
        enter("a", 1)
        assert_raises(TooLongError) { enter("b", 2, "data" => "x" * (4 << 20)) }
        assert_nil @repository.repair_counts
        assert_equal 1, active(300)
      end

      private

      # @return [#call] the block's work, which calls what it is given once it has stored a session or a counter
      def interrupting(object, methods)
        lambda do |stop|
          methods.each do |method|
            object.define_singleton_method(method) do |name, *rest, **options|
              super(name, *rest, **options).tap { stop.call if name.start_with?("s/", "n/") }
            end
          end
          yield
        end
      end

      # @return [Thread] stopped at its work
      def stopped_thread(work)
        reached = Queue.new
        thread = Thread.new { work.call(-> { reached.push(nil) && sleep }) }
        thread.report_on_exception = false
        reached.pop
        Thread.pass until thread.stop?
        thread
      end

      # @return [Array(Integer, Integer)] those in the file, and of them those that are signed in
      def sessions
        records = @repository.sessions.map(&:last).to_a
        [records.size, records.count(&:user?)]
      end
    end
  end
end
