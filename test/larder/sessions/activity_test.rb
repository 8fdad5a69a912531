# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "support/counted_sessions"

module Larder
  module Sessions
    # Counters of sessions, and their correction while other processes change them.
    class ActivityTest < ActiveSupport::TestCase
      include CountedSessions

      # idle_timeout and max_lifetime, and seconds to which a figure is right.
      LIFETIMES = [[nil, 3600, 60], [7200, 600, 60], [86_400, 7200, 60], [86_400, 80_000, 3600],
                   [14 * 86_400, 30 * 86_400, 3600], [nil, 40 * 86_400, 86_400]].freeze

      test "activity is counted by the time of the last use" do
        10.times { |i| enter("u#{i}", i) }
        4.times { |i| @repository.begin(key("a#{i}"), { "cart" => i }) }
        assert_equal [14, 10, 4], [active(300), active(300, true), active(300, false)]
        @now += 600
        assert_equal 0, active(300)
        3.times { |i| use("u#{i}") }
        use("a1")
        assert_equal [4, 3, 1, 14], [active(300), active(300, true), active(300, false), active(3600)]
        @repository.end(key("u1"))
        assert_equal [3, 13], [active(300), active(3600)]
      end

      test "hours and days are counted too" do
        5.times { |i| enter("a#{i}", i) }
        @now += 5 * 3600
        2.times { |i| enter("b#{i}", i) }
        assert_equal [2, 2, 7], [active(3600), active(4 * 3600), active(7 * 3600)]
        @now += 5 * 86_400
        enter("c", 1)
        assert_equal [1, 1, 8], [active(3600), active(3 * 86_400), active(7 * 86_400)]
      end

      test "signing in and out moves a session from one kind to the other" do
        @repository.begin(key("a"), { "cart" => 1 })
        found = @repository.find(key("a"))
        @repository.commit(found, found.values.merge("user_id" => 1))
        assert_equal [1, 0], [active(300, true), active(300, false)]
        found = @repository.find(key("a"))
        @repository.commit(found, found.values.except("user_id"))
        assert_equal [0, 1], [active(300, true), active(300, false)]
      end

      test "a session that has lived for max_lifetime is not alive, however late it was used" do
        LIFETIMES.each do |idle, max, grain|
          use_file("#{max}.larder", lifetimes: Lifetimes.new(idle: idle, anonymous: idle, max: max))
          ends = @now + max
          2.times { |i| enter("u#{i}", i) }
          @repository.begin(key("a"), { "cart" => 1 })
          enter("ended", 3)
          pause = [idle, max].compact.min / 2
          while @now + pause < ends
            @now += pause
            %w[u0 u1 a].each { |name| use(name) }
          end
          @now = ends - 1
          enter("late", 7)
          @repository.end(key("ended"))
          assert_equal [4, 3, 1], alive, max
          @now = ends + grain
          assert_equal [1, 1, 0], alive, max
          @statistics.recount
          assert_equal [1, 1, 0], alive, max
        end
      end

      test "no counters are made of times that nobody asks about any more" do
        enter("a", 1)
        @now += 100 * 3600
        enter("b", 2)
        names = -> { @repository.backend.cache.each_key(prefix: "n/").to_a }
        names.call.each { |name| @repository.backend.cache.delete(name) }
        @statistics.recount
        assert_equal %w[d d h m], names.call.map { |name| name[2] }.sort
        assert_equal [1, 2], [active(3600), active(7 * 86_400)]
      end

      test "after a change of the lifetimes sessions are counted by the new ones" do
        @repository.index.announce
        recounted
        enter("a", 1)
        @now += 3600
        enter("b", 2)
        assert_equal [2, 2, 0], alive
        @repository = repository(@repository.backend, lifetimes: Lifetimes.new(idle: 86_400, max: 3600))
        @statistics = Statistics.new(@repository)
        @repository.index.announce
        @now += 60
        @repository.repair_counts.join
        assert_equal [1, 1, 0], alive
      end

      test "changes that come while sessions are counted are neither lost nor counted twice" do
        12.times { |i| enter("u#{i}", i) }
        %W[n/m#{@now / 60} n/d#{@now / 86_400}].each { |name| @repository.backend.cache.increment(name, 50) } # wrong
        @now += 60
        seen, later = @repository.sessions.map(&:first).each_slice(6).to_a
        test = self
        visiting do |visit|
          seen.each(&visit)
          test.send(:change, seen, later)
          later.each(&visit)
        end
        @statistics.recount
        assert_equal [12, 10, 2], [active(7200), active(7200, true), active(7200, false)]
        assert_equal 6, active(30)
        # Of sessions that begin and end meanwhile it cannot be known which of them a counter has.
        [86_400, 4 * 86_400].each { |last| assert_in_delta 12, active(last), 4 }
        @repository.backend.singleton_class.remove_method(:each_entry)
        @statistics.recount
        assert_equal [12, 12, 12], [7200, 86_400, 4 * 86_400].map { |last| active(last) }
      end

      test "a session whose key is visited twice, because the index has grown, is counted once" do
        6.times { |i| enter("u#{i}", i) }
        keys = @repository.sessions.map(&:first).to_a
        visiting { |visit| (keys * 2).each(&visit) }
        @statistics.recount
        assert_equal [6, 6, 6], [active(7200), active(86_400), active(4 * 86_400)]
        assert_equal 6, @statistics.online(last: 60).size
      end

      test "processes that change sessions while another counts leave the counts right" do
        900.times { |i| enter("old#{i}", i) }
        @now += 60
        reader, writer = IO.pipe # readable once they are to end
        pids = Array.new(3) do |worker|
          fork do
            writer.close
            (0..).each do |i|
              break if reader.wait_readable(0)

              # No more sessions than the file has room for, however long counting takes.
              if i.between?(300, 1300)
                enter("#{worker}/#{i}", "#{worker}/#{i}")
              else
                use("old#{(worker * 300) + (i % 300)}")
              end
            end
          end
        end
        10.times { @statistics.recount }
        @statistics.recount until @repository.sessions.count > 900 # on a busy machine they begin late
        writer.close
        pids.each { |pid| Process.wait(pid) }
        sessions = @repository.sessions.count
        # Of each process one change may have been under way.
        [7200, 86_400].each { |last| assert_in_delta sessions, active(last), 3 }
        @statistics.recount
        assert_equal [sessions] * 2, [active(7200), active(86_400)]
      end

      private

      # Has the backend visit keys as the block says.
      def visiting
        @repository.backend.define_singleton_method(:each_entry) do |prefix, &block|
          yield ->(key) { (bytes = read(prefix + key)) && block.call(prefix + key, bytes) }
        end
      end

      # Of those that were seen and of those that were not, one ends, one is used, one signs out; and two begin.
      def change(seen, later)
        [seen, later].each do |keys|
          @repository.end(keys[0])
          found = [@repository.find(keys[1]), @repository.find(keys[2])]
          assert @repository.commit(found[0], found[0].values)
          assert @repository.commit(found[1], {})
        end
        2.times { |i| enter("new#{i}", "new#{i}") }
      end
    end
  end
end
