# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # One file, many processes: what one writes the others read, also after it is gone.
  class PersistenceTest < StoreCase
    test "entries survive the process that wrote them" do
      in_child do
        store.write("key", { "a" => [1, :b] }, expires_in: 1.hour, version: 3)
        store.increment("n", 5)
      end
      assert_equal({ "a" => [1, :b] }, store.read("key", version: 3))
      assert_nil store.read("key", version: 4)
      assert_equal 6, store.increment("n")
      travel(61.minutes) { assert_nil store.read("key", version: 3) }
    end

    test "entries survive a process that is killed" do
      reader, writer = IO.pipe
      pid = fork do
        store.write("key", "kept")
        writer.write("w")
        sleep
      end
      writer.close
      reader.read(1)
      Process.kill(:KILL, pid)
      wait_for(pid)
      assert_equal "kept", store.read("key")
      assert_same true, store.write("key", "new")
    ensure
      reader&.close
    end

    test "a store made before a fork works in the child and the parent" do
      store.write("key", "parent")
      child = in_child do
        read = store.read("key")
        store.write("key", "child")
        store.write("other", "child")
        [read, store.read("key")]
      end
      assert_equal %w[parent child], child
      assert_equal "child", store.read("key")
      store.write("key", "parent again")
      assert_equal "parent again", store.read("key")
    end

    test "grandchildren share it too" do
      value = in_child { in_child { store.write("key", "grandchild") && store.read("key") } }
      assert_equal "grandchild", value
      assert_equal "grandchild", store.read("key")
    end

    test "a delete and a clear of one process hold in all" do
      store.write_multi({ "a" => 1, "b" => 2 })
      in_child { store.delete("a") }
      assert_equal({ "b" => 2 }, store.read_multi("a", "b"))
      in_child { store.clear }
      assert_equal({}, store.read_multi("a", "b"))
    end

    test "processes that write the same keys leave whole values" do
      pids = Array.new(3) do |number|
        fork do
          100.times { |i| store.write("key/#{i % 10}", number.to_s * 2000) }
          exit!(0)
        end
      end
      pids.each { |pid| assert_predicate wait_for(pid), :success? }
      10.times { |i| assert_includes ["0" * 2000, "1" * 2000, "2" * 2000], store.read("key/#{i}") }
    end
  end
end
