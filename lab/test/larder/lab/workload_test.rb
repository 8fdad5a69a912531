# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "active_support/core_ext/numeric/time"

module Larder
  module Lab
    class WorkloadTest < ActiveSupport::TestCase
      # Records which keys each thread asked for.
      class Recorder
        attr_reader :calls

        def initialize
          @calls = Hash.new { |calls, thread| calls[thread] = [] }
        end

        def fetch(name, **)
          @calls[Thread.current] << name.last
          yield
        end
      end

      # Enough of a contender for a workload.
      Standing = Struct.new(:store) do
        def self.keeps_values?
          true
        end

        def clear
          store.clear
        end
      end

      test "one thread asks for every key once" do
        assert_equal [(0...10).to_a], keys(Workloads::OneThread, count: 10, threads: 5)
      end

      test "as published every thread counts from 0" do
        assert_equal [[0, 1]] * 5, keys(Workloads::ThreadsAsPublished, count: 10, threads: 5)
      end

      test "corrected no two threads share a key" do
        assert_equal [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]],
                     keys(Workloads::ThreadsDisjoint, count: 10, threads: 5).sort
      end

      test "sharing their keys, threads start at different ones" do
        assert_equal [[0, 1, 2, 3], [2, 3, 0, 1]], keys(Workloads::ThreadsShared, count: 8, threads: 2).sort
      end

      test "pass 1 runs the block for every key in every lap, pass 2 for none" do
        workload = Workloads::OneThread.new(memory, count: 10, threads: 1)
        miss = workload.run(Workload::MISS, 3)
        hit = workload.run(Workload::HIT, 2)
        assert_equal [30, 30, nil], [miss.calls, miss.block_runs, miss.wrong]
        assert_equal [20, 0, nil], [hit.calls, hit.block_runs, hit.wrong]
        assert_operator miss.seconds, :>, 0
      end

      test "a wrong value is reported with its key" do
        contender = memory
        workload = Workloads::OneThread.new(contender, count: 10, threads: 1)
        workload.run(Workload::MISS, 1)
        contender.store.write(["key", 4], "Hello Mars!")
        assert_equal [4, "Hello Mars!"], workload.run(Workload::HIT, 1).wrong
      end

      test "an exception in a thread is not lost" do
        broken = Class.new { def fetch(*, **) = raise(IOError, "gone") }.new
        Thread.report_on_exception = false
        workload = Workloads::ThreadsDisjoint.new(Standing.new(broken), count: 10, threads: 5)
        assert_raises(IOError) { workload.run(Workload::HIT, 1) }
      ensure
        Thread.report_on_exception = true
      end

      (Workloads.names - Workloads.usual).each do |name|
        test "#{name} makes its calls in each lap, and finds every value right" do
          type = Workloads.fetch(name)
          workload = type.new(memory, count: 200, threads: 1)
          type.passes.each do |pass|
            block = workload.run(pass, 2)
            assert_nil block.wrong
            assert_operator block.calls, :>, 0
            assert_operator block.seconds, :>, 0
          end
        end

        test "#{name} notices a store that loses values, or keeps them" do
          lossy = ActiveSupport::Cache::MemoryStore.new
          lossy.define_singleton_method(:write_entry) { |*, **| true }
          lossy.define_singleton_method(:delete_entry) { |*, **| true }
          type = Workloads.fetch(name)
          workload = type.new(Standing.new(lossy), count: 200, threads: 1)
          blocks = type.passes.map { |pass| [pass, workload.run(pass, 1)] }
          # A fetch finds no value wrong whose block ran; its runs tell.
          found = blocks.any? { |pass, block| block.wrong || (pass.reading && block.block_runs.positive?) }
          assert found, blocks.inspect
        end
      end

      Workloads.names.select { |name| Workloads.fetch(name).floor? }.each do |name|
        test "#{name} knows what its calls cost with any store" do
          type = Workloads.fetch(name)
          workload = type.new(memory, count: 200, threads: 1)
          type.passes.each do |pass|
            block = workload.run(pass, 3)
            assert_nil block.wrong
            assert_operator block.floor, :>, 0
          end
        end
      end

      # Else the heap would grow while the clock runs, in the turn of the store, which comes first.
      test "the store and the floor have each had a turn before the clock starts" do
        order = []
        type = Class.new(Workloads::Strings) do
          define_method(:visit) { |*args| super(*args).tap { order << :store } }
          define_method(:floor) { |*args| super(*args).tap { order << :floor } }
          define_method(:warm_up) { |*args| super(*args).tap { order << :clock } }
          private :floor
        end
        type.new(memory, count: 200, threads: 1).run(Workloads::Strings.passes.last, 5)
        assert_equal [[:store, 2], [:floor, 2], [:clock, 1], [:store, 2], [:floor, 2], [:store, 3], [:floor, 3]],
                     order.chunk_while { |one, other| one == other }.map { |some| [some.first, some.size] }
      end

      test "a page is the same with every store" do
        workload = Workloads::Pages.new(memory, count: 200, threads: 1)
        Workloads::Pages.passes.each do |pass|
          block = workload.run(pass, 1)
          assert_equal [2, nil], [block.calls, block.wrong], "those that warm the process up do not count"
        end
        controller = Workloads::Shop::Controller
        controller.use(ActiveSupport::Cache::MemoryStore.new)
        pages = Array.new(2) { controller.get(controller.application(:index)) }
        assert_equal 1, pages.uniq.size
        assert_equal 50, pages.first.scan("<article").size
      end

      test "large values, which no compressor makes smaller, meet none" do
        zlib = Class.new { def deflate(_) = raise("compressed") }.new
        with_directory do |dir|
          store = ActiveSupport::Cache::FileStore.new(dir, serializer: Marshal, compressor: zlib)
          assert_raises(RuntimeError) { store.write("key", "x" * 10_000) }
          workload = Workloads::Large.new(Standing.new(store), count: 200, threads: 1)
          assert_nil workload.run(Workloads::Large::WRITE, 1).wrong
        end
      end

      test "headings name the number of threads" do
        assert_equal "3 threads, as published", Workloads::ThreadsAsPublished.heading(3)
        assert_equal "One thread", Workloads::OneThread.heading(3)
      end

      private

      def memory
        Standing.new(ActiveSupport::Cache::MemoryStore.new)
      end

      def keys(type, count:, threads:)
        recorder = Recorder.new
        type.new(Standing.new(recorder), count: count, threads: threads).run(Workload::HIT, 1)
        recorder.calls.values
      end
    end
  end
end
