# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/serve"

module Larder
  module Lab
    module Bench
      # The process of a row, without its parent.
      class ServeTest < ActiveSupport::TestCase
        # Objects. Every second one is soon gone.
        MANY = 300_000

        test "setup keeps what calls and teardown find; teardown runs once, before the next block, where setup did" do
          log = []
          suite = Suite.define("trial") do
            %i[one two three].each do |key|
              block(key, key.to_s) do
                setup { |scene| scene[:log] = key == :two ? raise(Unavailable, "no room") : ["#{key} begins"] }
                call { |scene, number| scene[:log] << number && true }
                teardown { |scene| log.concat(scene[:log], ["#{key} ends"]) }
              end
            end
          end
          found = in_a_process(suite) do |service|
            service.warm_up(1)
            assert_raises(Unavailable) { service.prepare("two") }
            service.prepare("three")
            log
          end
          assert_equal ["one begins", 0, "one ends"], found
        end

        test "one turn comes before those that count, with calls that count on" do
          numbers = []
          in_a_process(one(->(number) { numbers << number })) do |service|
            service.warm_up(3)
            service.turn
            numbers
          end.then { |found| assert_equal [0, 1, 2, 3, 4, 5], found }
        end

        test "with YJIT calls before turns go on until nothing more is compiled, and not for ever" do
          assert_equal 224 + 2, calls_before_turns { |calls| [calls, 200].min }
          assert_equal 1600 + 2, calls_before_turns(&:itself)
        end

        test "before turns young objects are collected, and all where that leaves little room" do
          kept = in_a_process do |service|
            room = Array.new(MANY) { +"" }
            room.select!.with_index { |_, number| (number % 2).zero? }
            GC.start
            collections = [collections_of(service)]
            room << +"" until GC.stat(:heap_free_slots) < GC.stat(:heap_available_slots) * 0.1
            collections << collections_of(service)
          end
          assert_equal [[1, 0], [1, 1]], kept
        end

        test "a store that goes on after a failure says why it has lost a value" do
          with_directory do |dir|
            Dir.mkdir(File.join(dir, "cache.larder"))
            reason = in_a_process do |service|
              $stderr.reopen(File::NULL) # the store reports there as well
              contender = Contenders::LarderStore.new(dir: dir).open
              assert_raises(Invalid) { service.send(:prove, contender, 1) }.message
            end
            assert_match(/\Aa wrong value: .* instead of "value 0 é"; \w+ failed .*: .*directory/, reason)
          end
        end

        private

        # Pretends that YJIT has compiled the number of methods that the block answers for a number of calls.
        #
        # @return [Integer] calls of `warm_up(2)`
        def calls_before_turns
          calls = 0
          in_a_process(one(->(_) { calls += 1 })) do |service|
            Yjit.stub(:on?, true) { Yjit.stub(:compiled, -> { yield calls }) { service.warm_up(2) } }
            calls
          end
        end

        # @return [Array(Integer, Integer)] of young objects, of all
        def collections_of(service)
          before = counts
          service.send(:collect)
          counts.zip(before).map { |after, earlier| after - earlier }
        end

        def counts = GC.stat.values_at(:minor_gc_count, :major_gc_count)

        # Yields a service with a block, in a process whose heap is its own.
        def in_a_process(suite = one(->(_) {}))
          reader, writer = IO.pipe
          pid = fork do
            writer.write(JSON.generate(yield(service(suite))))
            writer.close
            exit!(0)
          end
          writer.close
          JSON.parse(reader.read)
        ensure
          Process.wait(pid)
        end

        def one(call)
          Suite.define("few") { block(:one, "one") { call { |_, number| call.call(number).then { true } } } }
        end

        def service(suite)
          service = Service.new({ "suite" => ReferenceLoop::KEY, "contender" => "memory" }, nil, nil)
          contender = Contenders::MemoryStore.new(dir: Dir.pwd).open
          service.instance_variable_set(:@suite, suite)
          service.instance_variable_set(:@contender, contender)
          service.prepare("one")
          service
        end
      end
    end
  end
end
