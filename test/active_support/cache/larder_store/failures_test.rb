# frozen_string_literal: true

require "support/store_case"
require "open3"
require "rbconfig"

module LarderStoreTests
  # A cache that cannot serve is a miss, and somebody hears of it.
  class FailuresTest < StoreCase
    # Without Rails, which loads all of ActiveSupport that a report needs.
    WITHOUT_DESCRIPTORS = <<~RUBY
      require "active_support"
      require "active_support/cache/larder_store"

      store = ActiveSupport::Cache.lookup_store(:larder_store, ARGV[0], { size: 1 << 20 })
      reported = []
      subscriber = Object.new
      subscriber.define_singleton_method(:report) { |error, **| reported << error.message[/Too many open files/] }
      ActiveSupport.error_reporter.subscribe(subscriber)
      Process.setrlimit(:NOFILE, 3)
      answers = { read: ["a"], write: ["a", 1], delete: ["a"], increment: ["n"], fetch: ["a"], read_multi: ["a"],
                  delete_multi: [["a"]], clear: [], delete_tagged: ["t"] }.map do |call, arguments|
        store.public_send(call, *arguments) { "made" }
      end
      p answers, reported.uniq
    RUBY
    private_constant :WITHOUT_DESCRIPTORS

    # @return [ActiveSupport::Cache::LarderStore] whose file was closed under it
    def broken(**options)
      store.write("key", "stored")
      new_store(**options).tap { |cache| cache.cache.close }
    end

    test "every call on a cache that cannot serve answers as a miss" do
      cache = broken
      assert_nil cache.read("key")
      assert_nil cache.fetch("key")
      assert_equal "made", cache.fetch("key") { "made" }
      assert_equal({}, cache.read_multi("key", "b"))
      assert_equal({ "a" => "made" }, cache.fetch_multi("a") { "made" })
      assert_nil cache.write("key", 1)
      assert_nil cache.write("key", 1, unless_exist: true)
      assert_nil cache.write_multi({ "key" => 1 })
      assert_same false, cache.exist?("key")
      assert_same false, cache.delete("key")
      assert_equal 0, cache.delete_multi(["key"])
      assert_nil cache.increment("n")
      assert_nil cache.decrement("n")
      assert_nil cache.read_counter("n")
      assert_nil cache.write_counter("n", 1)
      assert_nil cache.delete_matched(/k/)
      assert_nil cache.clear
      assert_nil cache.cleanup
      assert_nil cache.prune(0)
      assert_equal %i[fast_path], cache.stats.keys
      assert_equal "stored", store.read("key")
    end

    test "without Rails and without descriptors, calls are misses and reported" do
      lib = File.expand_path("../../../../lib", __dir__)
      out, err, status = Open3.capture3(RbConfig.ruby, "-I", lib, "-e", WITHOUT_DESCRIPTORS, path_of("none.larder"))
      assert_predicate status, :success?, err
      assert_equal ['[nil, nil, false, nil, "made", {}, 0, nil, nil]', '["Too many open files"]'],
                   out.lines(chomp: true)
      assert_no_match(/could not be reported/, err)
    end

    test "each failure is reported once, as handled, under the store's name" do
      cache = broken
      { read: ["key"], write: ["key", 1], delete: ["key"], increment: ["n"], clear: [], delete_matched: [/k/],
        read_multi: %w[a b], write_multi: [{ "a" => 1, "b" => 2 }], exist?: ["a"] }.each do |method, arguments|
        reports = reports_of { cache.public_send(method, *arguments) }
        assert_equal 1, reports.size, method
        assert_instance_of Larder::ClosedError, reports[0][:error]
        assert_equal [true, :warning, "larder_store.active_support"], reports[0].values_at(:handled, :severity, :source)
      end
    end

    test "failures are counted in the statistics, with an error_handler and with raise_errors as well" do
      long = SecureRandom.random_bytes(2 * SIZE)
      silent = new_store(error_handler: ->(**) {})
      raising = new_store(raise_errors: true)
      assert_same false, store.write("key", long)
      assert_same false, silent.write("key", long)
      assert_raises(Larder::InvalidArgument) { raising.write("key", long) }
      store.keep_statistics
      store.cache.keep_statistics
      usage = Larder::Usage.read(store.cache.path)
      assert_equal [3, 3], [usage.rest.failures, usage.last(3600).whole.failures]
    end

    test "failures are logged" do
      cache = broken
      log = log_of { cache.write("key", 1) }
      assert_match(/LarderStore: write_entry failed, returned nil: Larder::ClosedError: /, log)
    end

    test "an error_handler is told instead" do
      told = []
      cache = broken(error_handler: lambda { |method:, returning:, exception:|
        told << [method, returning, exception.class]
      })
      reports = reports_of do
        cache.read("key")
        cache.delete("key")
        cache.read_multi("key")
        cache.increment("n")
      end
      assert_empty reports
      assert_equal [[:read_entry, nil], [:delete_entry, false], [:read_multi_entries, {}], [:increment, nil]],
                   (told.map { |call| call.first(2) })
      assert_equal [Larder::ClosedError], told.map(&:last).uniq
    end

    test "an error of an error_handler's own is reported once, and the call answers" do
      [->(**) { raise "boom" }, ->(**) { raise "caf\xE9" }, ->(**) { raise Larder::ClosedError, "its own" }, -> {},
       ->(exception:, **) { raise exception.class, exception.message }].each do |handler|
        cache = broken(error_handler: handler)
        reports = reports_of do
          2.times { assert_nil cache.read("key") }
          assert_nil cache.write("key", 1)
          assert_equal 1, cache.fetch("key") { 1 }
          assert_same false, cache.delete("key")
          assert_equal({}, cache.read_multi("key"))
          assert_nil cache.clear
        end
        assert_equal 1, reports.size
      end
    end

    test "a logger or a subscriber of the error reporter that raises does not fail a call" do
      cache = broken
      broken_logger = Class.new(ActiveSupport::Logger) { define_method(:error) { |*| raise "no disk" } }.new(nil)
      _, printed = capture_io do
        ActiveSupport::Cache::Store.with(logger: broken_logger) { assert_nil cache.read("key") }
      end
      assert_match(/could not be reported: RuntimeError: no disk/, printed)
      failing = [RuntimeError, LoadError].map do |error|
        Class.new { define_method(:report) { |*, **| raise error, "no network" } }.new
      end
      failing.each do |subscriber|
        Larder::Reports.reset
        ActiveSupport.error_reporter.subscribe(subscriber)
        capture_io { assert_nil cache.write("key", 1) }
        ActiveSupport.error_reporter.unsubscribe(subscriber)
      end
    ensure
      failing&.each { |subscriber| ActiveSupport.error_reporter.unsubscribe(subscriber) }
    end

    test "an error_handler that raises the error that it was given has it raised" do
      cache = broken(error_handler: ->(exception:, **) { raise exception })
      assert_raises(Larder::ClosedError) { cache.read("key") }
      assert_raises(Larder::ClosedError) { cache.write("key", 1) }
      assert_raises(Larder::ClosedError) { cache.fetch("key") { 1 } }
      assert_raises(Larder::ClosedError) { cache.clear }
    end

    test "error_handler: nil is silence" do
      cache = broken(error_handler: nil)
      assert_empty(reports_of { assert_nil cache.read("key") })
    end

    test "raise_errors: true raises to the caller and tells nobody else" do
      cache = broken(raise_errors: true)
      reports = reports_of do
        assert_raises(Larder::ClosedError) { cache.read("key") }
        assert_raises(Larder::ClosedError) { cache.write("key", 1) }
        assert_raises(Larder::ClosedError) { cache.increment("n") }
        assert_raises(Larder::ClosedError) { cache.clear }
      end
      assert_empty reports
      assert_raises(Larder::InvalidArgument) { new_store(raise_errors: true).write("key", "x" * SIZE) }
    end

    test "a value larger than the file can hold is refused, reported, and leaves no old value" do
      store.write("key", "old")
      reports = reports_of { assert_same false, store.write("key", "x" * (store.cache.max_value + 1)) }
      assert_equal [Larder::InvalidArgument], reports.map { |report| report[:error].class }
      assert_nil store.read("key")

      store.write("key", "old")
      reports = reports_of { store.write_multi({ "key" => "x" * (store.cache.max_value + 1), "small" => 1 }) }
      assert_equal 1, reports.size
      assert_nil store.read("key")
    end

    test "fetch returns the block's value where it is too large to store" do
      large = "x" * (store.cache.max_value + 1)
      assert_equal large, store.fetch("key") { large }
      assert_nil store.read("key")
    end

    test "a value that is only small compressed is stored compressed" do
      large = "x" * (store.cache.max_value + 1)
      assert_same true, store.write("key", large, compress: true)
      assert_equal large, store.read("key")
    end

    # Stops a process that writes large values in the middle of one, where it holds the lock that others need.
    def while_a_writer_is_stopped
      pid = fork do
        large = "w" * 900_000
        loop { store.cache.set("writer", large) }
      end
      2000.times do
        sleep(rand * 0.003) # until it is somewhere else
        Process.kill(:STOP, pid)
        Process.wait(pid, Process::WUNTRACED)
        return yield if stuck?
      ensure
        Process.kill(:CONT, pid)
      end
      flunk "the writer was never stopped in a write"
    ensure
      Process.kill(:KILL, pid)
      Process.wait(pid)
    end

    def stuck?
      @probe ||= Larder::Cache.open(path_of, size: SIZE, lock_timeout: 0.01)
      !@probe.set("probe", "p" * 900_000)
    end

    test "a write that a stopped process blocks answers nil, is reported, and leaves no old value" do
      cache = new_store(lock_timeout: 0.01)
      large = "v" * 900_000
      cache.write_multi({ "key" => "old", "other" => "old" })
      reports = reports_of do
        while_a_writer_is_stopped do
          assert_nil cache.write("key", large)
          assert_nil cache.write_multi({ "other" => large })
          assert_equal({}, cache.read_multi("key", "other"))
          assert_equal large, cache.fetch("key") { large }
        end
      end
      assert_equal [Larder::Error] * 2, (reports.map { |report| report[:error].class })
      assert_includes reports.first[:error].message, '"key"'
      assert_same true, cache.write("key", large)
      assert_equal large, cache.read("key")
    end

    test "a file truncated under the store is a miss in every call" do
      answers = in_child do
        store.write_multi((0...100).to_h { |i| ["key/#{i}", "v" * 1000] })
        File.truncate(path_of, 0)
        reads = (0...100).map { |i| store.read("key/#{i}") }
        [reads.uniq - ["v" * 1000], store.fetch("other") { "made" }, store.read_multi("key/1", "key/2"),
         store.delete("key/1"), store.exist?("key/1")]
      end
      assert_equal [[nil], "made", {}, false, false], answers
      assert_same true, new_store.write("key", 1)
      assert_equal 1, new_store.read("key")
    end

    test "errors of the caller are not rescued" do
      assert_raises(ArgumentError) { store.read(nil) }
      assert_raises(TypeError) { store.write("key", proc {}) }
      assert_raises(NoMethodError) { store.fetch("key") { nil.upcase } }
    end

    def first_use_of(name)
      assert_raises(Larder::OpenError) { new_store(name, raise_errors: true).read("key") }
    end

    test "a foreign file is an error at the first use that names it, and stays as it is" do
      File.write(path_of("notes.txt"), "my notes\n" * 1000)
      error = first_use_of("notes.txt")
      assert_includes error.message, path_of("notes.txt")
      assert_equal "my notes\n" * 1000, File.read(path_of("notes.txt"))
    end

    test "a directory and a path below a file are errors at the first use, a size too small at construction" do
      Dir.mkdir(path_of("dir.larder"))
      File.write(path_of("file"), "")
      first_use_of("dir.larder")
      error = first_use_of("file/below/deeper/c.larder")
      assert_includes error.message, path_of("file/below/deeper/c.larder")
      assert_raises(ArgumentError) { new_store("small.larder", size: 1000) }
    end

    test "an option of the wrong type is an error that names it" do
      { persistent: "no", size: "much", lock_timeout: "long", error_handler: :report, raise_errors: "yes",
        max_key_size: 10, expires_in: "60" }.to_a.push([:lock_timeout, 3601]).each do |name, wrong|
        error = assert_raises(ArgumentError, name) { new_store(name => wrong) }
        assert_includes error.message, ":#{name}"
        assert_includes error.message, wrong.inspect
      end
      assert_raises(ArgumentError) { ActiveSupport::Cache::LarderStore.new(42) }
      assert_raises(ArgumentError) { ActiveSupport::Cache::LarderStore.new("") }
    end
  end
end
