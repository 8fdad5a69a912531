# frozen_string_literal: true

# Two levels: `remote:`. A machine is a file of its own here, and the remote store one in memory that counts its calls.

require "support/store_case"

module LarderStore
  # Larder::Store::TwoLevels and its Copies, over a remote store that cannot fail.
  class LevelsTest < StoreCase
    # Counts what reaches it.
    class Counting < ActiveSupport::Cache::MemoryStore
      attr_reader :calls

      %i[read_entry write_entry write_multi_entries delete_entry].each do |name|
        define_method(name) do |key, *arguments, **options|
          (@calls ||= []) << [name, key]
          super(key, *arguments, **options)
        end
      end
      private :read_entry, :write_entry, :write_multi_entries, :delete_entry

      def calls_during
        @calls = []
        yield
        @calls
      end
    end

    Product = Struct.new(:id, :version) do
      def cache_key = "products/#{id}"
      def cache_version = version
    end

    def remote
      @remote ||= Counting.new
    end

    def machine(name, **options)
      new_store("#{name}.larder", remote: remote, raise_errors: true, **options)
    end

    setup do
      @one = machine("one")
      @two = machine("two")
    end

    on_both_paths "what one machine writes, another reads" do
      assert_same true, @one.write("k", [1, "two"])
      assert_equal [1, "two"], @two.read("k")
      assert_equal [1, "two"], @two.fetch("k") { flunk }
      assert @two.exist?("k")
      assert_nil @two.read("none")
      assert_not @two.exist?("none")
    end

    on_both_paths "a second read asks the file alone" do
      @one.write("k", 1)
      @two.read("k")
      assert_empty(remote.calls_during { 3.times { assert_equal 1, @two.fetch("k") { flunk } } })
      assert_empty(remote.calls_during { assert_equal 1, @one.read("k") })
    end

    test "write_multi in a namespace is one call of the remote store, and clear of that namespace ends its copies" do
      calls = remote.calls_during { @one.write_multi({ "a" => 1, "b" => 2, "c" => 3 }, namespace: "n") }
      assert_equal 1, calls.map(&:first).count(:write_multi_entries)
      assert_equal [1, 2, 3], %w[a b c].map { |key| @one.read(key, namespace: "n") }
      @one.write("a", 0)
      @one.clear(namespace: "n")
      assert_empty @one.read_multi("a", "b", "c", namespace: "n")
    end

    on_both_paths "so it does with a subscriber of the read that makes the copy" do
      calls = [->(cache) { cache.read("k") }, ->(cache) { cache.exist?("k") && 1 },
               ->(cache) { cache.fetch("k") { 2 } }, ->(cache) { cache.read_multi("k")["k"] }]
      one, two = %w[1 2].map { |name| machine(name, namespace: "n") }
      calls.each do |call|
        one.write("k", 1)
        events_of { assert_equal 1, call.call(two) }
        two.clear
        assert_nil two.read("k")
      end
    end

    test "and a copy that a computation in the pool has made" do
      one, two = %w[1 2].map { |name| machine(name, namespace: "n", expires_in: 10, stale_if_error: 60) }
      one.write("k", "old")
      assert_equal "old", two.read("k")
      travel(20) do
        one.write("k", "new")
        assert_equal("new", two.fetch("k", soft_timeout: 60) { flunk })
        two.clear
        assert_nil two.read("k")
      end
    end

    on_both_paths "the remote store is asked for an entry of another version than the copy's" do
      [{}, { stale_if_error: 60 }, { stale_while_revalidate: 60 }].each do |options|
        @one.write("k", "first", version: 1, **options)
        assert_equal("first", @two.fetch("k", version: 1, **options) { flunk })
        @one.write("k", "second", version: 2, **options)
        assert_equal("second", @two.fetch("k", version: 2, **options) { flunk }, options)
        assert_equal({ "k" => "second" }, @two.fetch_multi("k", version: 2, **options) { flunk }, options)
      end
    end

    test "a copy whose time ends while it is read is the answer, and the entry of the remote store stays" do
      stale = { stale_if_error: 60 }
      calls = { ->(cache) { cache.read("k") } => {}, ->(cache) { cache.fetch("k") { flunk } } => {},
                ->(cache) { cache.read_multi("k")["k"] } => {},
                ->(cache) { cache.fetch("k", stale) { flunk } } => stale,
                ->(cache) { cache.fetch_multi("k", stale) { flunk }["k"] } => stale,
                ->(cache) { cache.read("k", race_condition_ttl: 1) } => { race_condition_ttl: 1 } }
      Larder::Store::FastPath.without do
        calls.each do |call, options|
          @one.write("k", "v", options)
          while_its_time_ends(@one) { assert_equal "v", call.call(@one) }
          assert_equal "v", @two.cache.clear && @two.read("k")
        end
      end
    end

    # A copy is found, and then its time ends.
    def while_its_time_ends(cache)
      pass = -> { travel(6.seconds) }
      cache.level.machines.define_singleton_method(:trusted?) do
        pass.call
        pass = -> {}
        super()
      end
      yield
    ensure
      cache.level.machines.singleton_class.remove_method(:trusted?)
      travel_back
    end

    test "a hit in the file is answered in C" do
      @one.write("k", 1)
      assert_equal({ on: true, reasons: [] }, @one.stats[:fast_path])
      ordinary = 0
      @one.define_singleton_method(:read_entry) { |*a, **o| (ordinary += 1) && super(*a, **o) }
      @two.read("k")
      @two.read("k")
      assert_equal 0, ordinary
    end

    on_both_paths "entries that are found of many names have the order of the names" do
      names = ("a".."j").to_a
      @one.write_multi(names.to_h { |name| [name, "value of #{name}"] }, expires_in: 60, stale_while_revalidate: 60)
      [{}, { stale_while_revalidate: 60 }].each do |options|
        @two.cache.clear
        @two.read_multi("i", "c", "e", **options)
        2.times { assert_equal names, @two.read_multi(*names, **options).keys, options }
      end
    end

    test "a copy is used for local_expires_in, and no longer than its entry" do
      freeze_time
      two = machine("short", local_expires_in: 2)
      @one.write("k", "old")
      assert_equal "old", two.read("k")
      remote.write("k", "new")
      travel(1.9, with_usec: true)
      assert_equal "old", two.read("k")
      travel(0.2, with_usec: true)
      assert_equal "new", two.read("k")

      @one.write("brief", 1, expires_in: 1)
      assert_equal 1, two.read("brief")
      travel(1.1, with_usec: true)
      assert_nil two.read("brief")
    end

    test "a copy's age counts from when the remote store was asked" do
      two = machine("short", local_expires_in: 2)
      @one.write("k", "old")
      remote.define_singleton_method(:read_entry) do |*arguments, **options|
        super(*arguments, **options).tap { Kernel.sleep(0.3) }
      end
      asked = Time.now
      two.read("k")
      remote.singleton_class.remove_method(:read_entry)
      remote.write("k", "new")
      travel_to(asked + 1.9, with_usec: true) { assert_equal "old", two.read("k") }
      travel_to(asked + 2.05, with_usec: true) { assert_equal "new", two.read("k") }
    end

    [{ single_flight: true }, { stale_if_error: 60 }, { early_refresh: true, expires_in: 60 }].each do |options|
      test "fetch_multi with #{options.keys.first} computes all if reading the versions of tags takes long" do
        remote.define_singleton_method(:read_entry) do |key, **terms|
          Kernel.sleep(0.15) if key.include?("larder/tag/") # longer than the blocks of one call may take
          super(key, **terms)
        end
        tagged = machine("tagged", tags: "release 7", **options)
        values = Timeout.timeout(30) { tagged.fetch_multi("a", "b", "c") { |name| name * 2 } }
        assert_equal({ "a" => "aa", "b" => "bb", "c" => "cc" }, values)
        assert_equal values, tagged.read_multi("a", "b", "c")
      end
    end

    test "keys lists names of entries, and nothing that the store notes in the file" do
      names = ["tagged", "timed", "old", "timed " * 600]
      [{}, { max_key_size: 39 }, { namespace: "shop" }].each do |options|
        cache = machine("noting #{options.keys.first}", local_expires_in: 60, **options)
        cache.write("tagged", 1, tags: "red")
        names.grep(/timed/).each { |name| cache.fetch(name, expires_in: 60, early_refresh: true) { 1 } }
        cache.write("old", 1, expires_in: 10, stale_if_error: 60)
        travel(11.seconds) do
          reports_of { assert_equal 1, cache.fetch("old", expires_in: 10, stale_if_error: 60) { raise IOError } }
          stored = cache.cache.each_key.count { |key| key.start_with?("larder/note/") }
          assert_equal [4, 3, %w[tagged]], [stored, cache.keys.size, cache.keys(prefix: "tag")], options
        end
        cache.clear(namespace: nil)
      end
    end

    on_both_paths "a copy of another version is no hit" do
      @one.write(Product.new(1, "v1"), "first")
      assert_equal "first", @two.read(Product.new(1, "v1"))
      @one.write(Product.new(1, "v2"), "second")
      assert_equal "second", @two.read(Product.new(1, "v2"))
      assert_equal "second", @two.fetch(Product.new(1, "v2")) { flunk }
      assert_nil @two.read(Product.new(1, "v3"))
      assert_equal({ "x" => 1 }, @two.fetch("k", version: "9") { { "x" => 1 } })
      assert_equal({ "x" => 1 }, @one.read("k", version: "9"))
      assert_nil @one.read("k", version: "10")
    end

    on_both_paths "a delete is of the remote store and of the machine that deletes" do
      @one.write("k", 1)
      @two.read("k")
      assert_same true, @two.delete("k")
      assert_nil @two.read("k")
      assert_nil remote.read("k")
      assert_same false, @two.delete("k")
    end

    on_both_paths "the multi forms ask the remote store for what is missing" do
      @one.write_multi({ "a" => 1, "b" => 2 }, expires_in: 60)
      @two.read("a")
      remote.write("c", 3)
      calls = remote.calls_during do
        assert_equal({ "a" => 1, "b" => 2, "c" => 3 }, @two.read_multi("a", "b", "c", "d"))
      end
      assert_equal %w[b c d], calls.map(&:last)
      assert_equal({ "a" => 1, "e" => "made e" }, @two.fetch_multi("a", "e") { |name| "made #{name}" })
      assert_equal "made e", @one.read("e")
      assert_equal 2, @two.delete_multi(%w[a b none])
      assert_equal({ "c" => 3 }, @two.read_multi("a", "b", "c"))
    end

    on_both_paths "counters, raw values and unless_exist are the remote store's" do
      assert_equal 1, @one.increment("n")
      assert_equal 4, @two.increment("n", 3)
      assert_equal 3, @one.decrement("n")
      assert_equal 3, @two.read("n", raw: true).to_i
      assert_equal 3, @two.read_counter("n")
      assert_same true, @one.write("u", 1, unless_exist: true)
      assert_same false, @two.write("u", 2, unless_exist: true)
      assert_equal 1, @two.read("u")
      @one.write("r", "bytes", raw: true)
      remote.write("r", "others", raw: true)
      assert_equal "others", @one.read("r", raw: true)
      assert_equal({ "r" => "others" }, @one.read_multi("r", raw: true))
    end

    test "clear empties both levels" do
      @one.write("k", 1)
      @one.write("k", 2, namespace: "n")
      assert_same true, @one.clear
      assert_nil remote.read("k")
      assert_nil @one.read("k")
      assert_nil @one.read("k", namespace: "n")
    end

    test "after a delete_matched with a Regexp that failed, the remote store is cleared before it is read" do
      files = path_of("files")
      one = new_store("files.larder", remote: [:file_store, files], error_handler: nil)
      one.write_multi({ "k1" => 1, "other" => 2 })
      File.rename(files, "#{files}.away")
      File.write(files, "")
      one.delete_matched(/k/)
      File.delete(files)
      File.rename("#{files}.away", files)
      assert_nil one.read("k1")
      assert_nil new_store("again.larder", remote: [:file_store, files]).read("k1")
    end

    test "delete_matched deletes in both levels" do
      @one.write_multi({ "p/1" => 1, "p/2" => 2, "q" => 3 })
      @one.delete_matched(%r{\Ap/})
      assert_equal({ "q" => 3 }, @one.read_multi("p/1", "p/2", "q"))
      assert_equal({ "q" => 3 }, remote.read_multi("p/1", "p/2", "q"))
    end

    test "what the remote store's options say of entries holds here" do
      one = new_store("e.larder", remote: [:memory_store, { expires_in: 60, skip_nil: true }])
      one.write("k", 1)
      travel(61, with_usec: true) { assert_nil one.read("k") }
      one.fetch("nil") { nil }
      assert_not one.exist?("nil")
    end

    test "a value that is deleted while it is read from the remote store leaves no copy" do
      @one.write("k", "old")
      meanwhile(:read_entry) { @two.delete("k") }
      @two.read("k")
      assert_nil @two.read("k")
    end

    test "a value that is written while an older one is read from the remote store wins" do
      @one.write("k", "old")
      meanwhile(:read_entry) { @two.write("k", "new") }
      assert_equal "old", @two.read("k")
      assert_equal "new", @two.read("k")
    end

    test "of two writes at the same time, the copy is what the remote store has" do
      meanwhile(:write_entry, before: true) { @two.write("k", "first") }
      @two.write("k", "second")
      assert_equal remote.read("k"), @two.read("k")
      meanwhile(:write_entry, before: false) { @two.write("j", "second") }
      @two.write("j", "first")
      assert_equal remote.read("j"), @two.read("j")
    end

    test "single flight: the value that another machine has is not computed" do
      @one.write("k", 1)
      assert_equal 1, @two.fetch("k", single_flight: true) { flunk }
      assert_equal 2, @two.fetch("j", single_flight: true) { 2 }
      assert_equal 2, @one.read("j")
    end

    test "single flight: of several machines one computes, and the others have its value" do
      runs = Queue.new
      machines = [@one, @two, machine("three")]
      values = machines.map do |store|
        Thread.new do
          store.fetch("k", single_flight: true, tags: "t") do
            runs << 1
            Kernel.sleep(0.2)
            "made"
          end
        end
      end.map(&:value)
      assert_equal %w[made made made], values
      assert_equal 1, runs.size
      assert_empty(remote.calls_during { machines.each { |store| assert_equal "made", store.read("k") } })
      assert_not remote.exist?("k/larder/lease")
      @one.delete_tagged("t")
      assert_nil @one.read("k")
    end

    test "single flight: a copy of another version, or one that is not trusted, is computed again" do
      @one.write(Product.new(1, "1"), "old")
      assert_equal("new", Timeout.timeout(LONGEST) { @one.fetch(Product.new(1, "2"), single_flight: true) { "new" } })
      assert_equal "new", @two.fetch(Product.new(1, "2"), single_flight: true) { flunk }
      @one.write("k", "old")
      remote.delete("k")
      @one.level.machines.define_singleton_method(:trusted?) { false } # C asks the file itself
      Larder::Store::FastPath.without do
        assert_equal("new", Timeout.timeout(LONGEST) { @one.fetch("k", single_flight: true) { "new" } })
      end
    end

    test "single flight: a machine that dies is followed by another when its lease ends" do
      remote.write("k/larder/lease", "of one that died", expires_in: 0.3)
      assert_equal "made", @one.fetch("k", single_flight: true) { "made" }
      remote.write("j/larder/lease", "of one that is slow", expires_in: 10)
      assert_equal "alone", @one.fetch("j", single_flight: true, wait: 0.1) { "alone" }
      assert_nil remote.read("j")
    end

    test "single flight: a delete while the value is computed wins in both levels" do
      assert_equal 1, @two.fetch("k", single_flight: true) { @two.delete("k") || 1 }
      assert_nil remote.read("k")
      assert_nil @two.read("k")

      @two.fetch("j", single_flight: true) { meanwhile(:write_entry) { @two.delete("j") } && 1 }
      assert_nil remote.read("j")
      assert_nil @two.read("j")
    end

    test "single flight: a value whose block begins after a delete is stored, also if that has ended the lease" do
      meanwhile(:write_entry) { @two.delete("k") }
      assert_equal 1, @two.fetch("k", single_flight: true) { 1 }
      assert_equal [1, 1], [remote.read("k"), @two.read("k")]
    end

    test "single flight among machines: a value that was stored before the lease was taken is not computed again" do
      meanwhile(:write_entry, before: true) { @one.write("k", "theirs") }
      assert_equal "theirs", @two.fetch("k", single_flight: true) { flunk }
      assert_equal "theirs", @two.read("k")
      assert_equal "mine", @two.fetch("other", single_flight: true) { "mine" }
    end

    test "stale serving: an old value of the remote store is served and computed again" do
      options = { expires_in: 10, stale_while_revalidate: 60 }
      @one.fetch("k", **options) { "old" }
      travel(20, with_usec: true) do
        assert_equal "old", @two.fetch("k", **options) { "new" }
        assert(eventually { @two.read("k") == "new" })
        assert_equal "new", @one.read("k")
      end
    end

    test "race_condition_ttl with single flight: who finds an expired entry computes or waits" do
      options = { expires_in: 10, race_condition_ttl: 20, single_flight: true }
      @one.fetch("k", **options) { "old" }
      travel(11, with_usec: true) do
        assert_equal "new", @two.fetch("k", **options) { "new" }
        assert_equal "new", @one.fetch("k", **options) { flunk }
      end
    end

    test "write_multi of any options reaches the remote store" do
      [{ raw: true }, { single_flight: true }, { stale_if_error: 60 }, { tags: "t" }, { unless_exist: true }, {},
       { namespace: "n" }].each do |options|
        remote.clear
        assert_equal({ "a" => "1", "b" => "2" }, @one.write_multi({ "a" => "1", "b" => "2" }, **options))
        read = options.slice(:raw, :namespace)
        assert_equal({ "a" => "1", "b" => "2" }, @two.read_multi("a", "b", **read), options.inspect)
        @one.delete_multi(%w[a b], read)
        assert_empty @two.read_multi("a", "b", **read) if read[:raw]
        @two.clear
      end
    end

    test "raw values and counters have no tags, which is said" do
      { write: ["k", "v", { raw: true }], fetch: ["k", { raw: true }], write_multi: [{ "k" => "v" }, { raw: true }],
        increment: ["n", 1, {}] }.each do |method, (*arguments, options)|
        error = assert_raises(ArgumentError, method) do
          @one.public_send(method, *arguments, { **options, tags: "t" }) { "v" }
        end
        assert_match(/tags: .* raw value or a counter/, error.message)
      end
      assert_equal 1, @one.increment("n", 1, namespace: "n")
    end

    test "raw values have no copies, also in the multi forms" do
      one = new_store("raw.larder", remote: [:memory_store, {}])
      one.write("k", [1, 2])
      new_store("raw.larder").clear
      one.read_multi("k", raw: true)
      one.fetch_multi("k", raw: true) { flunk }
      assert_equal [1, 2], one.read("k")
    end

    test "race_condition_ttl: one caller computes, others have the old value" do
      @one.write("k", "old", expires_in: 10, race_condition_ttl: 10)
      travel(12, with_usec: true) do
        value = @two.fetch("k", race_condition_ttl: 10) do
          assert_equal "old", @one.fetch("k", race_condition_ttl: 10) { flunk }
          "new"
        end
        assert_equal "new", value
        assert_equal "new", @two.read("k")
      end
    end

    on_both_paths "race_condition_ttl: an old value keeps its tags, whatever those of the caller are" do
      options = { expires_in: 10, race_condition_ttl: 30 }
      [[@one, {}], [@one, { tags: "other" }], [machine("named", namespace: "n"), {}]].each do |cache, more|
        cache.write("k", "old", tags: "t", **options)
        travel(11, with_usec: true) do
          cache.fetch("k", **options, **more) do
            assert_equal "old", cache.read("k")
            cache.delete_tagged("t")
            assert_nil cache.read("k")
            "new"
          end
          assert_equal "new", cache.read("k")
        end
      end
    end

    on_both_paths "race_condition_ttl: what another machine deletes or writes since an old value was read stays" do
      { -> { @two.delete_tagged("t") } => nil, -> { @two.delete("k") } => nil, -> { @two.write("k", 2) } => 2 }
        .each do |change, left|
          @one.write("k", "old", expires_in: 10, race_condition_ttl: 30, tags: "t")
          travel(11, with_usec: true) do
            entry = @one.send(:read_entry, "k", race_condition_ttl: 30)
            change.call
            @one.send(:expired, entry, Larder::Store::Call.new("k", "k", { race_condition_ttl: 30, tags: "t" }))
            assert_equal [left] * 2, [@one.read("k"), machine("three").read("k")]
          end
        end
    end

    on_both_paths "an old value is served, too, if events of reads have a subscriber" do
      options = { expires_in: 10, stale_while_revalidate: 60 }
      machines = { "of one" => @one, "of two" => @two }
      machines.each_key { |key| @one.fetch(key, options) { "old" } }
      travel 11.seconds do
        ActiveSupport::Notifications.subscribed(->(_event) {}, /\Acache_/) do
          caller = Thread.current
          machines.each do |key, store|
            assert_equal("old", store.fetch(key, options) { refute_same(caller, Thread.current) && "new" })
          end
        end
        assert Larder::Store::Refreshes.await(LONGEST)
        assert_equal(%w[new new], machines.map { |key, store| store.read(key) })
      end
    end

    on_both_paths "a write with a tag that is new to the machine is found, also with a subscriber of its read" do
      events_of { assert_nil @one.read("k", tags: "t") }
      @one.write("k", 1, tags: "t")
      assert_equal 1, @two.read("k")
    end

    on_both_paths "delete_tagged deletes on this machine at once, and on others when they ask" do
      @one.write("k", 1, tags: %w[red blue])
      @one.fetch("j", tags: :red) { 2 }
      @one.write("none", 3)
      assert_equal({ "k" => 1, "j" => 2, "none" => 3 }, @two.read_multi("k", "j", "none"))
      assert_equal 1, @two.read("k")
      assert_same true, @one.delete_tagged("red")
      assert_equal({ "none" => 3 }, @one.read_multi("k", "j", "none"))
      assert_equal 1, @two.read("k"), "a copy, for local_expires_in"
      assert_equal({ "none" => 3 }, machine("three").read_multi("k", "j", "none"))
      travel(6, with_usec: true) { assert_equal({ "none" => 3 }, @two.read_multi("k", "j", "none")) }
      @two.delete_tagged("blue")
      assert_equal 5, @two.fetch("k", tags: %w[red blue]) { 5 }
      assert_equal 5, @one.read("k")
    end

    on_both_paths "a tag that is deleted while a value is computed, on any machine, deletes it" do
      [@one, @two].each do |deleting|
        assert_equal 1, @one.fetch("k", tags: "t") { deleting.delete_tagged("t") && 1 }
        assert_nil machine("three").read("k")
      end
      assert_equal({ "a" => 1 }, @one.fetch_multi("a", tags: "t") { @two.delete_tagged("t") && 1 })
      assert_nil machine("three").read("a")
    end

    on_both_paths "so does one that is an option of the store, and what is found needs no versions of tags" do
      tagged = machine("tagged", tags: "t")
      assert_equal({ "a" => 1 }, tagged.fetch_multi("a") { tagged.delete_tagged("t") && 1 })
      assert_nil machine("three").read("a")
      2.times { tagged.fetch_multi("a") { 2 } }
      assert_equal 2, machine("four").read("a")
      assert_empty(remote.calls_during { assert_equal({ "a" => 2 }, tagged.fetch_multi("a") { flunk }) })
      assert_empty(remote.calls_during { assert_equal({ "a" => 2 }, tagged.fetch_multi("a", tags: "t") { flunk }) })
    end

    on_both_paths "unless_exist stores in place of an entry that a tag has deleted, once" do
      options = { unless_exist: true, tags: "t" }
      [@one, @two].each do |store|
        assert_equal [true, false], [1, 2].map { |value| store.write("k", value, **options) }
        @one.delete_tagged("t")
        written = Array.new(10) { |number| Thread.new { [@one, @two][number % 2].write("k", number, **options) } }
        assert_equal 1, written.map(&:value).count(true)
        assert_includes 0..9, @one.read("k")
        assert_equal @one.read("k"), @two.read("k")
        @one.delete("k")
      end
    end

    on_both_paths "a tag is one for all namespaces that a Proc makes, also in the thread of a refresh" do
      Thread.current[:tenant] = "a"
      one, two = %w[three four].map { |name| machine(name, namespace: -> { Thread.current[:tenant] }) }
      one.write("k", 1, tags: "t")
      Thread.current[:tenant] = "b"
      one.delete_tagged("t")
      Thread.current[:tenant] = "a"
      assert_nil two.read("k")
      options = { tags: "t", expires_in: 10, stale_while_revalidate: 60 }
      one.fetch("j", **options) { "old" }
      travel(20) do
        assert_equal "old", one.fetch("j", **options) { "new" }
        assert Larder::Store::Refreshes.await(LONGEST)
        assert_equal "new", two.read("j")
      end
    ensure
      Thread.current[:tenant] = nil
    end

    test "a tag whose version the remote store has lost deletes its entries" do
      @one.write("k", 1, tags: "t")
      remote.delete("larder/tag/t")
      assert_nil @two.read("k")
    end

    test "tags are found in single flight, stale serving and namespaces" do
      @one.fetch("k", tags: "t", single_flight: true, namespace: "n") { 1 }
      options = { tags: "t", expires_in: 10, stale_while_revalidate: 60 }
      @one.fetch("j", **options) { "old" }
      assert_equal 1, @two.read("k", namespace: "n")
      travel(20) do
        assert_equal "old", @two.fetch("j", **options) { "new" }
        assert(eventually { @two.read("j") == "new" })
      end
      @one.delete_tagged("t")
      three = machine("three")
      assert_equal [nil, nil], [three.read("k", namespace: "n"), three.read("j")]
    end

    test "a tag is that of all namespaces which a Proc makes" do
      tenant = "a"
      one, two = %w[1 2].map { |name| machine(name, namespace: -> { tenant }) }
      one.write("k", 1, tags: "t")
      one.write("j", 1, tags: "u")
      tenant = "b"
      one.delete_tagged("t")
      tenant = "a"
      assert_equal [nil, 1], [two.read("k"), two.read("j")]
    end

    test "a value that looks like one with tags is found as it was written" do
      odd = ["larder/tagged/1", { "t" => "x" }, 5]
      [->(key) { @one.write(key, odd) }, ->(key) { @one.write_multi({ key => odd }) },
       ->(key) { @one.fetch_multi(key) { odd } }, ->(key) { @one.write_multi({ key => odd }, tags: "t") }]
        .each_with_index do |call, key|
          call.call(key)
          assert_equal odd, @two.read(key), key
        end
    end

    test "so is one that replaces a value by cas" do
      remote.define_singleton_method(:cas) { |key, _, &block| write(key, block.call(read(key))) }
      remote.define_singleton_method(:cas_multi) { |*| raise NotImplementedError }
      odd = ["larder/tagged/1", { "t" => "x" }, 5]
      ["plain", odd].each do |before|
        @one.write("k", before)
        assert @one.cas("k") { |value| value == before ? odd : flunk }
        assert_equal odd, @two.read("k")
      end
    end

    on_both_paths "if the file cannot be opened, the remote store answers" do
      File.write(path_of("file"), "")
      cache = ActiveSupport::Cache.lookup_store(:larder_store, path_of("file/x.larder"), remote: remote)
      reports = reported do
        assert_same true, cache.write("k", 1, tags: "t")
        assert_equal 1, cache.read("k")
        assert_equal({ "k" => 1, "j" => 2 }, cache.fetch_multi("k", "j") { 2 })
        assert_equal 2, cache.fetch("j", single_flight: true) { flunk }
        cache.delete_tagged("t")
        assert_nil cache.read("k")
        assert_same true, cache.delete("j")
        assert_equal 1, cache.increment("n")
      end
      assert(reports.all?(Larder::OpenError))
    end

    test "a value that cannot be serialized is an error, and the old one stays, as with the remote store alone" do
      far = ActiveSupport::Cache::MemoryStore.new(coder: Larder::Coder.new)
      one = new_store("s.larder", remote: far)
      [far, one].each do |store|
        store.write("k", 1)
        assert_raises(Larder::UnserializableError) { store.write("k", proc {}) }
        assert_raises(Larder::UnserializableError) { store.write_multi({ "k" => proc {} }) }
        assert_equal 1, store.read("k")
      end
    end

    test "a value that is too long for the file is read from the remote store each time" do
      one = new_store("long.larder", remote: remote, size: 1 << 20)
      value = "x" * (1 << 20)
      assert_empty(reported do
        assert_same true, one.write("k", value)
        2.times { assert_equal value, one.read("k") }
      end)
    end

    test "statistics tell what the remote store waits for" do
      one = new_store("told.larder", remote: [:memory_store, {}])
      assert_equal({ store: "ActiveSupport::Cache::MemoryStore", waiting: false, listed: 0, overflown: false,
                     trusted: true, listener: nil }, one.stats[:remote])
      one.remote.outbox.journal.note(:delete, %w[a b])
      assert_equal({ waiting: true, listed: 2 }, one.stats[:remote].slice(:waiting, :listed))
      [one, path_of("told.larder")].each do |subject|
        found = Larder::Doctor.run(subject).findings.find { |finding| finding.check == :remote }
        assert_match(/has not got (2|all) changes/, found.what)
      end
      assert(eventually { one.read("none").nil? && !one.stats[:remote][:waiting] })
      assert_equal 0, one.stats[:remote][:listed]
      assert_includes Larder::Doctor.run(one).sound.keys, :remote
      assert_nil new_store("alone.larder").stats[:remote]
    end

    known, unknown = { waiting: false, listed: 0, overflown: false }, { waiting: true, listed: nil, overflown: nil }
    directories = ->(path) { [path, "#{path}.journal"].each { |each| Dir.mkdir(each) } }
    { "a directory" => [->(path) { Dir.mkdir(path) }, known],
      "a directory, and another one in that of the journal," => [directories, unknown],
      "a file of another program" => [->(path) { File.write(path, "notes") }, known] }.each do |what, (make, journal)|
      test "with #{what} in the place of the file, there are statistics of the remote store all the same" do
        make.call(path_of("other.larder"))
        one = ActiveSupport::Cache.lookup_store(:larder_store, path_of("other.larder"), remote: [:memory_store, {}],
                                                                                        error_handler: nil)
        assert_equal({ fast_path: { on: false, reasons: ["its file is not open"] },
                       remote: { store: "ActiveSupport::Cache::MemoryStore", **journal, trusted: nil, listener: nil } },
                     one.stats)
        assert_nil one.stats[:hits]
      end
    end

    test "the doctor of an application that has closed its cache has the figures of the file" do
      one = new_store("closed.larder", remote: [:memory_store, {}], error_handler: nil)
      one.write("k", 1)
      one.cache.close
      assert_equal({ waiting: false, trusted: nil }, one.stats[:remote].slice(:waiting, :trusted))
      report = Larder::Doctor.run(one)
      assert_equal [:fast_path], report.findings.map(&:check)
      assert_includes report.sound.keys, :pressure
    end

    test "each call sends one event" do
      one = new_store("events.larder", remote: [:memory_store, {}])
      calls = { "increment" => -> { one.increment("n") }, "decrement" => -> { one.decrement("n") },
                "write" => -> { one.write("k", 1) }, "read" => -> { one.read("none") },
                "delete" => -> { one.delete("k") }, "delete_matched" => -> { one.delete_matched(/k/) } }
      calls.each do |name, call|
        assert_equal ["cache_#{name}.active_support"], events_of(&call).map(&:name)
      end
    end

    test "a signature that would have no effect is refused" do
      [remote, [:memory_store, { coder: Marshal }], [:memory_store, { serializer: Marshal }],
       [:memory_store, { compressor: Zlib }]].each do |given|
        error = assert_raises(ArgumentError) { new_store("x.larder", remote: given, sign_with: "s" * 16) }
        assert_match(/sign_with: .* no effect.*Larder::Coder/, error.message)
      end
    end

    test "an entry of which the bytes are damaged is a miss" do
      one = new_store("damaged.larder", remote: [:memory_store, { compress: true }], error_handler: nil)
      one.write("k", "long" * 5000)
      payload = one.remote.store.instance_variable_get(:@data)["k"]
      payload.setbyte(payload.bytesize / 2, payload.getbyte(payload.bytesize / 2) ^ 0x55)
      new_store("damaged.larder").clear
      reads = [-> { one.read("k") }, -> { one.exist?("k") || nil }, -> { one.read_multi("k")["k"] },
               -> { one.fetch("k", force: false) { nil } }]
      assert_equal([NilClass] * reads.size, reads.map { |read| read.call.class })
    end

    test "what it takes is checked" do
      { { remote: 5 } => /:remote .* is 5/, { remote: [] } => /:remote/, { remote: :no_store } => /remote: .*no_store/,
        { remote: ["memory_store"] } => /:remote .* is/, { remote: [ActiveSupport::Cache::MemoryStore] } => /:remote/,
        { remote: [:memory_store, 5] } => /remote: .*:memory_store.* cannot be made/,
        { remote: remote, local_expires_in: 0 } => /:local_expires_in/, { local_expires_in: 5 } => /remote:/,
        { remote: remote, local_expires_in: Float::INFINITY } => /:local_expires_in .* at most/,
        { remote: @one } => /LarderStore, which no other/,
        { remote: remote, backplane: "redis://[bad" } => /backplane: .* bad URI/,
        { remote: remote, backplane: "redis://localhost/abc" } => /backplane: .*abc/,
        { remote: remote, backplane: "http://x" } => /backplane: .*redis:/,
        { remote: remote, backplane: [] } => /backplane: .*redis:/,
        { remote: remote, backplane: %w[postgresql://a postgresql://b] } => /nodes of one/ }.each do |options, message|
        error = assert_raises(StandardError, options.inspect) { new_store("x.larder", **options) }
        assert_match message, error.message
      end
    end

    private

    # Runs the block within the next call of the remote store's method.
    def meanwhile(name, before: false, &block)
      inner = remote
      inner.define_singleton_method(name) do |*arguments, **options|
        singleton_class.remove_method(name)
        block.call if before
        super(*arguments, **options).tap { block.call unless before }
      end
    end
  end
end
