# frozen_string_literal: true

require "test_helper"
require "larder/lab/hosting"
require "larder/lab/record"
require "larder/lab/suites"
require "larder/lab/suites/shop"
require "open3"
require "zlib"

module Larder
  module Lab
    # Real stores, files and forks.
    class RecordTest < ActiveSupport::TestCase
      setup do
        @dir = Dir.mktmpdir("larder-lab-record-")
        @path = File.join(@dir, "cache.trace")
      end

      teardown do
        @recorder&.stop
        FileUtils.rm_rf(@dir)
      end

      %w[memory file larder redis memcached].each do |name|
        test "calls of #{name} are recorded with hits, computations, times to live and sizes" do
          opened(name) do |store|
            record(store)
            2.times { store.fetch(["orders", 7], expires_in: 60) { sleep(0.002) && ("x" * 7000) } }
            store.write_multi({ "orders/8" => "y" * 900, "orders/9" => "z" * 10 }, expires_in: 5)
            store.read_multi("orders/8", ["orders", 7], "orders/404")
            store.delete("orders/8")
            sleep(0.8)
          end
          calls = lines.reject { |fields| fields.first == "z" }
          assert_equal [%w[r 0], %w[g], %w[w], %w[r 1], %w[w], %w[+], %w[r 1], %w[+ 1], %w[+ 0], %w[d]],
                       (calls.map { |fields| [fields.first, hit(fields)].compact.reject(&:empty?) })
          assert_equal 1, calls.values_at(0, 1, 2, 3).map { |fields| fields[4] }.uniq.size
          assert_equal calls[0][4], calls[7][1]
          assert_equal [60, 5], (calls.values_at(2, 4).map { |fields| (Integer(fields[7]) / 1000.0).round })
          assert_includes 2000..1_000_000, Integer(calls[1][2])
          assert_equal({ calls[0][4] => 7000, calls[5][1] => 10 },
                       lines("z").to_h { |_, key, bytes| [key, Integer(bytes)] }.slice(calls[0][4], calls[5][1]))
        end
      end

      test "sizes are those of values before they are compressed, also in an older format of entries" do
        format = ActiveSupport::Cache.format_version
        [*(6.1 if ActiveSupport.version < Gem::Version.new("7.2")), 7.0, 7.1].each do |version|
          ActiveSupport::Cache.format_version = version
          store = ActiveSupport::Cache::FileStore.new(File.join(@dir, version.to_s))
          record(store)
          store.write("text", "x" * 9000)
          store.write("list", ["x" * 9000])
          sleep(0.8)
          assert_equal [9000, Marshal.dump(["x" * 9000]).bytesize], lines("z").last(2).map { |fields| fields[2].to_i }
        end
      ensure
        ActiveSupport::Cache.format_version = format
      end

      test "neither keys nor values nor names of persons are in the file, but those of templates are" do
        store = ActiveSupport::Cache::MemoryStore.new
        record(store)
        store.write("ada@example.com/inbox", "secret")
        store.write("views/users/_card:#{"0a" * 16}/users/4711-20260101", "secret")
        assert_no_match(/ada|example|secret|4711|inbox/, text)
        assert_equal "#<Larder::Lab::Record::Recorder #{@path}>", @recorder.inspect
        assert_equal [["views/users/_card"]], (lines("s").map { |fields| fields.drop(2) })
      end

      test "keyspaces are named if that is asked for, without numbers, but not after whole keys" do
        store = ActiveSupport::Cache::MemoryStore.new(namespace: :shop)
        record(store, keyspaces: true)
        %w[orders/1 user:2 cart77/x ada 4711/y].each { |key| store.write(key, 1) }
        assert_equal %w[cart orders user], lines("s").map(&:last).sort
        assert_equal [*lines("s").map { |fields| fields[1] }, "0"].sort, lines("w").map { |fields| fields[5] }.uniq.sort
      end

      test "a time to live that has passed, or is infinite, is one that can be read" do
        record(store = ActiveSupport::Cache::MemoryStore.new)
        [{ expires_in: Float::INFINITY }, { expires_at: Time.now - 9 }].each do |life|
          payload = { key: "a", store: store.class.name, **life }
          ActiveSupport::Notifications.instrument("cache_write.active_support", payload)
        end
        assert_equal %w[100000000000000 1], lines("w").map(&:last)
      end

      test "a process that is forked records to the same file, and nothing twice" do
        store = ActiveSupport::Cache::MemoryStore.new
        record(store)
        store.write("a/1", 1)
        children = Array.new(3) { fork { 50.times { store.read("a/1") } } }
        assert(children.all? { |pid| Process.wait2(pid).last.success? })
        assert_equal 150, lines("r").size
        assert_equal 1, lines("w").size
        assert_equal 1, [*lines("r"), *lines("w")].map { |fields| fields[4] }.uniq.size
        assert_equal 1, [*lines("r"), *lines("w")].map { |fields| fields[5] }.uniq.size
        assert_equal 4, lines("larder-trace").map { |fields| fields[3] }.uniq.size
      end

      test "a request of Rails is recorded around its calls" do
        store = ActiveSupport::Cache::MemoryStore.new
        application = Suites::Shop::Pages.application(:ten, store)
        record(store)
        Suites::Shop::Pages.get(application)
        begun, took = lines("q").last.values_at(1, 2).map { |text| Integer(text) }
        assert_equal 10, lines("w").size
        assert(lines("w").all? { |fields| Integer(fields[1]).between?(begun, begun + took) })
      end

      test "a full disk ends recording with one warning, and calls go on" do
        store = ActiveSupport::Cache::MemoryStore.new
        _, warnings = capture_io do
          @path = "/dev/full"
          recorder = record(store)
          store.write("a", 1)
          recorder.stop
          assert_equal 1, store.read("a")
        end
        assert_match(%r{\Alarder-lab: recording to /dev/full has ended: Errno::ENOSPC.*\n\z}, warnings)
      end

      test "recording ends at its limits of bytes and time, and then costs no event" do
        store = ActiveSupport::Cache::MemoryStore.new
        _, warnings = capture_io do
          recorder = record(store, max_bytes: 10)
          store.write("a", 1)
          recorder.stop
        end
        assert_match(/has ended: it has 10 bytes, its limit/, warnings)
        assert_equal 0, File.size(@path)
        recorder = record(store, seconds: 0.01)
        eventually { !recorder.recording? }
        assert_not ActiveSupport::Notifications.notifier.listening?("cache_write.active_support")
      end

      test "a wrong argument is named" do
        assert_match(/cannot record to .*: No such file/, refused(File.join(@dir, "no", "x")))
        assert_match(/cannot record to .*: Is a directory/, refused(@dir))
        assert_match(/max_bytes: must be a number above 0, not "1"/, refused(@path, max_bytes: "1"))
        assert_match(/seconds: must be a number above 0, not 0/, refused(@path, seconds: 0))
      end

      test "the recorder loads nothing else of the lab" do
        script = 'require "larder/lab/record"; puts $LOADED_FEATURES'
        out, = Open3.capture2(RbConfig.ruby, "-I", File.expand_path("../../../lib", __dir__), "-e", script)
        files = out.scan(%r{larder/lab[/\w]*\.rb|larder\.so}) - ["larder/lab/version.rb"] # that one is Bundler's
        assert_equal %w[record.rb record/lines.rb record/recorder.rb],
                     files.sort.map { |file| file.delete_prefix("larder/lab/") }
      end

      test "a call allocates at most seven objects more" do
        store = ActiveSupport::Cache::MemoryStore.new
        store.write("a", 1)
        without = allocations(store)
        ActiveSupport::Notifications.monotonic_subscribe("cache_read.active_support") { |_, _, _, _, _| nil }
                                    .then { |other| @others = allocations(store).tap { unsubscribe(other) } }
        record(store)
        assert_operator allocations(store) - @others, :<=, 7
        assert_operator @others, :>, without
      end

      private

      def record(store, **options)
        @recorder = Lab.record(@path, store: store, **options)
      end

      def refused(...) = assert_raises(ArgumentError) { Lab.record(...) }.message

      def unsubscribe(subscription) = ActiveSupport::Notifications.unsubscribe(subscription)

      # Without the thread, which counts for itself.
      def allocations(store)
        store.read("a")
        sleep(0.6)
        before = GC.stat(:total_allocated_objects)
        100.times { store.read("a") }
        (GC.stat(:total_allocated_objects) - before) / 100
      end

      def opened(name)
        type = Contenders.fetch(name)
        Dir.mkdir(dir = File.join(@dir, name))
        Hosting.for(type, dir) do |endpoint|
          yield type.new(dir: dir, endpoint: endpoint).open.store
          @recorder.stop
        end
      end

      def text
        @recorder.stop
        File.open(@path, "rb") { |file| Zlib::GzipReader.zcat(file) }
      end

      def lines(letter = nil)
        all = text.lines(chomp: true).map { |line| line.split("\t") }
        letter ? all.select { |fields| fields.first == letter } : all.reject { |fields| fields.first.match?(/s|trace/) }
      end

      def hit(fields) = fields[fields.first == "+" ? 3 : 6]
    end
  end
end
