# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # Another process replaces the file while a block computes a value under a lease, and the value is deleted before or
  # after that: it is never read.
  class ReplacedFileTest < StoreCase
    FLIGHT = { single_flight: true }.freeze
    STALE = { expires_in: 10, stale_while_revalidate: 60 }.freeze
    Refreshes = Larder::Store::Refreshes

    teardown do
      assert Refreshes.await(LONGEST)
      assert_empty Larder::Store::Flights.held
    end

    # Changes of the file by the other process. Each leaves another file at the path, or none.
    WAYS = {
      "resized" => ->(path) { Larder::Cache.open(path, create: false) { |cache| cache.resize(4 << 20) } },
      "removed" => ->(path) { File.delete(path) },
      "removed with its lock file" => ->(path) { File.delete(path, "#{path}.lock") },
      "cut" => ->(path) { File.truncate(path, 8192) },
      "replaced by a part of it" => lambda do |path|
        IO.copy_stream(path, "#{path}.new", 1 << 20)
        File.chmod(0o600, "#{path}.new")
        File.rename("#{path}.new", path)
      end
    }.freeze

    # How a value comes about under a lease. The block is called while this process has it.
    COMPUTATIONS = {
      "fetch" => ->(store, &block) { store.fetch("key", FLIGHT, &block) },
      "fetch_multi" => lambda do |store, &block|
        store.fetch_multi("key", "other", FLIGHT) { |name| block.call if name == "key" }
      end,
      "read and write of a view" => lambda do |store, &block|
        store.read("key", FLIGHT) || store.write("key", block.call, FLIGHT)
      end,
      "a refresh of a stale value" => lambda do |store, &block|
        store.fetch("key", **STALE, &block)
        Refreshes.await(Processes::LONGEST)
      end
    }.freeze

    COMPUTATIONS.each do |name, computation|
      WAYS.each do |way, replace|
        on_both_paths "#{name}: a value deleted before the file is #{way} is not read" do
          compute(name, computation) do
            by_another_process { |other| other.delete("key") && replace.call(path_of) }
          end
          assert_never_read
        end

        on_both_paths "#{name}: a value deleted after the file was #{way} is not read" do
          compute(name, computation) do
            by_another_process do |other|
              replace.call(path_of)
              other.write("of the new file", 1)
              other.delete("key")
            end
          end
          assert_never_read
        end
      end

      on_both_paths "#{name}: another process has the lease in the file that was resized, and alone stores" do
        other = nil
        compute(name, computation) do
          by_another_process { WAYS["resized"].call(path_of) }
          other = start_computing("key", "of the other")
        end
        assert_nil store.read("key")
        assert other.call
        assert_equal "of the other", store.read("key")
      end
    end

    on_both_paths "a file that is used is not copied, and the lease stays" do
      computed = store.fetch("key", FLIGHT) do
        refused = in_child do
          Larder::Cache.open(path_of, create: false) { |cache| cache.resize(4 << 20, keep: true) }
        rescue Larder::OpenError => error
          error.message
        end
        assert_match(/other processes have the cache open/, refused)
        "computed"
      end
      assert_equal %w[computed computed], [computed, store.read("key")]
    end

    on_both_paths "a block that copies the file itself ends its lease, and a later value of the key stays" do
      computed = store.fetch("key", FLIGHT) do
        store.cache.resize(4 << 20, keep: true)
        store.write("key", "later")
        "computed"
      end
      assert_equal %w[computed later], [computed, store.read("key")]
    end

    private

    def compute(name, computation)
      store.write("kept", 1)
      return run_once(computation) { yield } unless name.include?("stale")

      store.write("key", "older", **STALE)
      travel(11.seconds) { run_once(computation) { yield } }
    end

    def run_once(computation)
      runs = 0
      computation.call(store) do
        runs += 1
        yield
        "computed"
      end
      assert_equal 1, runs
    end

    def by_another_process
      in_child { yield(new_store) && nil }
    end

    # Another process computes. To call what this answers is to let it store.
    def start_computing(key, value)
      may_end, end_it = IO.pipe
      begun, begin_it = IO.pipe
      process = fork do
        end_it.close
        new_store.fetch(key, FLIGHT) do
          begin_it.close
          may_end.read
          value
        end
      ensure
        exit!
      end
      [may_end, begin_it].each(&:close)
      begun.read
      -> { end_it.close || wait_for(process) }
    end

    # A process notices within 0.2 s of writes that its file was removed by hand; until then it uses the old one.
    def assert_never_read
      assert(eventually { store.write("probe", Process.pid) && in_child { new_store.read("probe") } == Process.pid })
      assert_nil store.read("key")
      assert_nil(in_child { new_store.read("key") })
      assert_equal "new", store.fetch("key", FLIGHT) { "new" }
      assert_equal ["new", 0], [store.read("key"), store.cache.verify[:problems]]
    end
  end
end
