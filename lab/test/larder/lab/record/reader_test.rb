# frozen_string_literal: true

require "test_helper"
require "larder/lab/record"
require "larder/lab/record/reader"
require "larder/lab/replay"
require "zlib"

module Larder
  module Lab
    module Record
      # Files that the recorder has written, and files that are wrong.
      class ReaderTest < ActiveSupport::TestCase
        setup do
          @dir = Dir.mktmpdir("larder-lab-reader-")
          @path = File.join(@dir, "cache.trace")
        end

        teardown { FileUtils.rm_rf(@dir) }

        test "a write after a miss belongs to the miss, also between two requests, and other writes are calls" do
          recording = recorded(sized: false) do |store|
            2.times { store.fetch("a/1", expires_in: 9) { sleep(0.01) && ("x" * 300) } }
            request do
              store.read_multi("b/1", "b/2")
              sleep(0.02)
              store.write_multi({ "b/1" => "y" * 40, "b/2" => "z" * 50, "b/3" => "w" })
              store.read("nothing")
            end
            sleep(0.8) # sizes of deleted values are not known
            store.delete("a/1")
          end
          steps = recording.requests.map do |each|
            each.steps.map { |operation, items, hits| [operation, items.size, hits] }
          end
          assert_equal [[[:get, 1, [false]]], [[:get, 1, [true]]],
                        [[:get, 2, [false, false]], [:set, 1, nil], [:get, 1, [false]]], [[:delete, 1, nil]]], steps
          items = recording.items
          assert_equal [300, 40, 50, 1], items.first(4).map(&:size)
          assert_equal [9.0, nil], items.first(2).map(&:ttl)
          assert_includes 0.01..0.2, items[0].compute
          assert_includes 0.01..0.2, items[1].compute
          assert_equal [true, true, true, true, nil], items.map(&:stored)
          assert(items.none?(&:warm))
          assert_equal 1, recording.requests.count { |each| each.seconds >= 0.02 }
        end

        test "keys that were there when recording began are known, and unknown sizes are the median of the keyspace" do
          store = ActiveSupport::Cache::MemoryStore.new
          %w[a/1 a/2 a/3].each { |key| store.write(key, "x" * 70) }
          recording = recorded(store, sized: false) do
            store.read("a/1")
            store.write("a/2", "y")
            store.read("a/2")
          end
          assert_equal [true, false], recording.items.map(&:warm)
          recording = read(member("z\t1\t70", "r\t0\t1\t1\t1\t1\t1", "r\t1\t1\t1\t2\t1\t1", "r\t1\t1\t1\t3\t2\t1"))
          assert_equal [70, 70, 70], recording.items.map(&:size)
        end

        test "nested requests are one, and a forked process has its own" do
          recording = recorded do |store|
            work = -> { request { request("process_action.action_controller") { 2.times { store.read("a/1") } } } }
            work.call
            Process.wait(fork(&work))
          end
          assert_equal([2, 2], recording.requests.map { |each| each.steps.size })
        end

        test "counters and deletions by pattern are recognized" do
          recording = read(member("i\t0\t1\t1\ta\t0\t", "m\t5\t1\t1", "e\t7\t1\t1\ta\t0\t1"))
          assert_equal([[:increment], [:exist]], recording.requests.map { |each| each.steps.map(&:first) })
          assert recording.items.first.counter
        end

        test "parts that were cut off or damaged are left out, with a warning" do
          whole = member("r\t0\t1\t1\ta\t0\t1")
          assert_equal ["1 damaged parts of the file were left out."], read(whole + whole[0..-9]).warnings
          (1...whole.bytesize).each { |bytes| assert_equal 2, read(whole + whole[0, bytes] + whole).calls.size, bytes }
        end

        test "of several recordings in a file the longest is read" do
          other = member("r\t0\t1\t1\tb\t0\t0", "r\t0\t1\t1\tb\t0\t0", recording: "two")
          recording = read(member("r\t0\t1\t1\ta\t0\t1") + other)
          assert_equal ["b"], recording.items.map(&:key)
          assert_match(/has 2 recordings/, recording.warnings.first)
        end

        test "calls that the recorder dropped are a warning" do
          assert_equal ["7 calls were not recorded, because too many waited."],
                       read(member("r\t0\t1\t1\ta\t0\t1", dropped: 7)).warnings
        end

        {
          "a file of text" => ["hello", /it has no call/],
          "an empty file" => ["", /it has no call/],
          "another gzip file" => [Zlib.gzip("hello\n"), /does not begin with larder-trace/],
          "another version" => [Zlib.gzip("larder-trace\t2\tx\t1\t0\n"), /format 2; this larder-lab reads 1/],
          "a line of another kind" => [["?\t1"], /line 2 of a part begins with "\?"/],
          "a time that is not one" => [["r\t-1\t1\t1\ta\t0\t1"], /"-1" in line 2 is not a number/],
          "a missing field" => [["r\t1"], /"" in line 2 is not a number/],
          "a key that is not one" => [["r\t1\t1\t1\t../x\t0\t1"], %r{"\.\./x" in line 2 is not a key}],
          "no calls" => [["s\t1\tviews/a"], /it has no call/]
        }.each do |what, (content, message)|
          test "#{what} is refused" do
            error = assert_raises(UsageError) { read(content.is_a?(Array) ? member(*content) : content) }
            assert_match(/cache\.trace is not a trace of Larder::Lab\.record, or is damaged: /, error.message)
            assert_match message, error.message
          end
        end

        test "no more calls are read than asked for, and a missing file is named" do
          many = written(member(*(0..8).map { |i| "r\t#{i}\t1\t1\ta\t0\t1" }))
          assert_equal 3, Reader.read(many, calls: 3).calls.size
          error = assert_raises(UsageError) { Reader.read(File.join(@dir, "none")) }
          assert_match(%r{/none: No such file}, error.message)
        end

        test "hit ratios are those of stored keys with their sizes" do
          trace = Hitratio::Formats.read(written(member("z\ta\t70", "r\t0\t1\t1\ta\t0\t1", "+\tb\t0\t0")))
          assert_equal [[0], [70]], [trace.requests, trace.sizes]
        end

        test "the trace of the demonstration application is small and is replayed with the recorded hits" do
          assert_operator File.size(Lab::Replay::DEMO), :<=, 200 * 1024
          recording = Lab::Replay.fill(Reader.read(Lab::Replay::DEMO))
          assert_empty recording.warnings
          counted = Lab::Replay::Player.new(ActiveSupport::Cache::MemoryStore.new(size: 256 << 20), recording).rehearse
          assert_operator counted["reads"], :>, 2000
          assert_in_delta recording.reads.count { |_, hit| hit }, counted["hits"], counted["reads"] * 0.01
        end

        private

        def request(event = "request.action_dispatch", &block) = ActiveSupport::Notifications.instrument(event, &block)

        def recorded(store = ActiveSupport::Cache::MemoryStore.new, sized: true)
          recorder = Lab.record(@path, store: store)
          yield store
          sleep(0.8) if sized
          recorder.stop
          Reader.read(@path)
        end

        def member(*lines, recording: "one", dropped: 0)
          Zlib.gzip([["larder-trace", 1, recording, 1, dropped].join("\t"), *lines, ""].join("\n"))
        end

        def written(bytes)
          File.binwrite(@path, bytes)
          @path
        end

        def read(bytes) = Reader.read(written(bytes))
      end
    end
  end
end
