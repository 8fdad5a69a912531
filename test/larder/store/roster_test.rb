# frozen_string_literal: true

require "support/remote_case"
require "support/trips"

module Larder
  module Store
    # Machines publish their status in the store that they share. A machine is a file of its own here.
    class RosterTest < RemoteCase
      # Counts what reaches it.
      class Counting < ActiveSupport::Cache::MemoryStore
        def written
          @written ||= []
        end

        private

        def write_entry(key, entry, **options)
          written << key
          super
        end
      end

      # Refuses all calls, as a server that is down does.
      class Down < ActiveSupport::Cache::MemoryStore
        private

        def read_entry(*, **)
          raise Errno::ECONNREFUSED
        end

        def write_entry(*, **)
          raise Errno::ECONNREFUSED
        end
      end

      def remote
        @remote ||= Counting.new
      end

      def published(store)
        store.level.roster.publish
      end

      def hosts_of(store)
        store.machines.map(&:id)
      end

      test "each machine sees the others, itself first" do
        one, two, three = %w[one two three].map { |name| machine(name).tap { |store| published(store) } }
        two.write("k", 1)
        ids = [one, two, three].map { |store| store.remote.outbox.machine }
        assert_equal [ids[1], *(ids - [ids[1]])].first, hosts_of(two).first
        assert_equal ids.sort, hosts_of(two).sort
        seen = one.machines.find { |status| status.id == ids[1] }
        assert_equal [path_of("two.larder"), false, true, false, 0],
                     [seen.path, seen.here, seen.trusted, seen.waiting, seen.listed]
        assert_operator seen.age, :<, 60
        assert one.machines.first.here
      end

      test "the entries are in the namespace, and not among the keys of the application" do
        one = machine("one", namespace: "shop")
        other = machine("other", namespace: "blog")
        [one, other].each { |store| published(store) }
        assert(remote.written.all? { |key| key.start_with?("shop:larder/machines", "blog:larder/machines") })
        assert_empty one.keys
        assert_equal 1, one.machines.size
        one.clear
        published(machine("two", namespace: "shop"))
        published(one)
        assert_equal 2, one.machines.size
      end

      test "machines find each other whatever namespace a Proc makes" do
        tenant = "a"
        one, two = %w[one two].map { |name| machine(name, namespace: -> { tenant }) }
        published(one)
        tenant = "b"
        assert_equal 2, two.machines.size
      end

      test "one process of a machine publishes in a minute, in a thread" do
        stores = Array.new(3) { machine("one") }
        rosters = stores.map { |store| store.level.roster }
        stores.each(&:keep_statistics)
        assert(eventually { remote.written.size == 2 })
        begun = rosters.map { |roster| thread_of(roster) }
        assert_equal 1, begun.compact.size
        15.times { |number| stores[number % 3].keep_statistics }
        assert_equal(begun, rosters.map { |roster| thread_of(roster) })
        machine("two").keep_statistics
        assert(eventually { remote.written.size == 4 })
      end

      test "a cache that is not used yet is not created" do
        unused = ActiveSupport::Cache::LarderStore.new(path_of("unused.larder"), remote: remote)
        unused.keep_statistics
        assert_nil thread_of(unused.level.roster)
        assert_empty Dir[path_of("unused*")]
      end

      test "a machine that was lost from the list enters itself again, and old ones are dropped" do
        one, two = machine("one"), machine("two")
        [one, two].each { |store| published(store) }
        own = ->(store) { store.remote.outbox.machine }
        remote.write("larder/machines", JSON.generate({ "0" * 16 => 1, own[one] => Time.now.to_i }))
        published(two)
        assert_equal [own[one], own[two]].sort, JSON.parse(remote.read("larder/machines")).keys.sort
        written = remote.written.size
        published(two)
        assert_equal written + 1, remote.written.size
      end

      test "whatever others have written there harms nothing" do
        one = machine("one")
        published(one)
        ["", "[]", "{", "\xff", '{"x": 1}', '{"0123456789abcdef": "x"}', "[" * 10_000, 7, { "a" => 1 }].each do |text|
          remote.write("larder/machines", text)
          assert_equal 1, one.machines.size, text.inspect
          published(one)
          assert_equal [own_id(one)], JSON.parse(remote.read("larder/machines")).keys
        end
        remote.write("larder/machines", JSON.generate({ "f" * 16 => Time.now.to_i }))
        remote.write("larder/machines/#{"f" * 16}", "<script>")
        assert_equal 1, one.machines.size
      end

      test "a remote store that does not answer does not make a request fail" do
        errors = []
        one = machine("one", remote: Down.new, error_handler: ->(**error) { errors << error })
        assert_nil one.keep_statistics
        published(one)
        assert_empty errors
        assert_nil one.machines
        assert_equal [:machines], errors.map { |error| error[:method] }
      end

      test "nothing is written while the remote store is not called" do
        one = machine("one")
        one.remote.pause
        assert_predicate one.remote, :pauses?
        published(one)
        assert_empty remote.written
        assert one.level.roster.own.paused
      end

      test "changes that wait are in the status, since when, and those that were published by then" do
        one = machine("one")
        one.remote.outbox.journal.note(:delete, %w[a b])
        status = one.level.roster.own
        assert_equal [true, 2, false], [status.waiting, status.listed, status.overflown]
        assert_in_delta Time.now.to_f, status.waiting_since, 60 if status.waiting_since
        published(one)
        assert_equal 2, machine("two").machines.find { |other| !other.here }.listed
      end

      test "a machine without a journal and without a file has a status" do
        store = ActiveSupport::Cache::LarderStore.new("/proc/none/cache.larder", remote: remote, error_handler: nil)
        status = store.level.roster.own
        assert_equal [nil, nil], [status.items, status.trusted]
        assert_equal status.id, store.level.roster.own.id
        published(store)
        assert_equal 2, machine("two").machines.size
      end

      test "a store without remote has no machines" do
        assert_empty store.machines
        assert_nil store.keep_statistics
      end

      test "machines with a backplane say which process listens" do
        url = start_once("redis").endpoint["url"]
        one = machine("one", remote: [:redis_cache_store, { url: url, namespace: "roster" }], backplane: url)
        assert(eventually { one.read("none") || one.cache.trusted? })
        published(one)
        two = machine("two", remote: [:redis_cache_store, { url: url, namespace: "roster" }], backplane: url)
        seen = two.machines.find { |status| status.path.end_with?("one.larder") }
        assert_equal [true, true, true, false], [seen.backplane, seen.trusted, seen.listener, seen.unsent]
        _, others = Trips.count { one.keep_statistics }
        assert_equal [0, []], [others, Trips.log]
      ensure
        one&.clear
      end

      private

      def thread_of(roster)
        roster.instance_variable_get(:@errand).instance_variable_get(:@thread)
      end

      def own_id(store)
        store.remote.outbox.machine
      end
    end
  end
end
