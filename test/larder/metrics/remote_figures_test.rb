# frozen_string_literal: true

require "support/backplane_case"
require "larder/metrics"

module Larder
  class Metrics
    class RemoteFiguresTest < BackplaneCase
      test "a cache without remote: has no figures, and no file is made for them" do
        store.write("a", 1)
        files = Dir.children(directory)
        assert_equal({}, figures(store))
        assert_equal({}, figures(store.cache.path))
        assert_equal files.sort, Dir.children(directory).sort
      end

      test "a machine that listens says so, to its processes and from outside" do
        one = listening("m1")
        assert_equal({ trusted: true, listener: true }, one.stats[:remote].slice(:trusted, :listener))
        assert_equal({ "remote.waiting" => 0, "remote.trusted" => 1, "remote.listener" => 1, "outbox.changes" => 0,
                       "outbox.overflown" => 0 }, figures(one))
        assert_equal({ "remote.waiting" => 0, "remote.listener" => 1, "outbox.changes" => 0, "outbox.overflown" => 0 },
                     figures(one.cache.path))
      end

      test "the listener of another process is there until that process ends" do
        other = peer("m1")
        other.call(:read, "none")
        one = new_store("m1.larder", remote: [:file_store, path_of("remote")], backplane: backplane,
                                     local_expires_in: LONG)
        (@machines ||= []) << one
        assert(eventually { figures(one)["remote.listener"] == 1 })
        other.kill
        assert_equal [0, 0], [one, one.cache.path].map { |subject| figures(subject)["remote.listener"] }
      end

      test "looking at the lock leaves it to the process that has it, and to the next" do
        lock = path_of("lock")
        assert_nil Remote::Backplane::Listener.at?(lock)
        File.write(lock, "")
        assert_equal false, Remote::Backplane::Listener.at?(lock)
        File.open(lock) do |file|
          assert file.flock(File::LOCK_EX | File::LOCK_NB)
          2.times { assert Remote::Backplane::Listener.at?(lock) }
          File.open(lock) { |other| assert_not other.flock(File::LOCK_EX | File::LOCK_NB) }
        end
      end

      test "copies are not trusted while the backplane does not answer" do
        one = listening("m1")
        halt(@server)
        assert(eventually { figures(one)["remote.trusted"].zero? })
        assert_equal 1, figures(one)["remote.listener"]
      end

      test "changes that the remote store has not got are counted, with and without the store" do
        one = listening("m1")
        one.remote.outbox.journal.note(:delete, %w[a b])
        found = [one, one.cache.path].map { |subject| figures(subject) }
        assert_equal([[1, 2, 0]] * 2,
                     found.map { |each| each.values_at("remote.waiting", "outbox.changes", "outbox.overflown") })
        assert_in_delta 0, RemoteFigures.new(Source.new(one)).waiting_for || 0, 60
        assert(eventually { caught_up?(one) && figures(one)["remote.waiting"].zero? })
        assert_nil RemoteFigures.new(Source.new(one)).waiting_for
      end

      test "changes are counted up to 1000, and a journal that has overflown says so" do
        one = machine("m1", remote: [:redis_cache_store, { url: "redis://127.0.0.1:1" }])
        journal = one.remote.outbox.journal
        journal.note(:delete, Array.new(1500) { |i| "key#{i}" })
        assert_equal [1, 1000], figures(one).values_at("remote.waiting", "outbox.changes")
        journal.send(:overflow)
        assert_equal 1, figures(one)["outbox.overflown"]
      end

      test "a journal that cannot be opened is one that waits" do
        File.write(path_of("m1.larder.journal"), "text" * 4096)
        assert_equal({ "remote.waiting" => 1 }, figures(path_of("m1.larder")))
      end

      private

      def figures(subject)
        source = Source.new(subject)
        RemoteFigures.new(source).read
      ensure
        source&.close
      end
    end
  end
end
