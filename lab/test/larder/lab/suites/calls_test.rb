# frozen_string_literal: true

require "test_helper"
require "larder/lab/contenders"
require "larder/lab/suites"
require "zlib"

module Larder
  module Lab
    module Suites
      class CallsTest < ActiveSupport::TestCase
        test "texts have their size and bytes of their own, and compress as HTML does" do
          Calls::SIZES.each_value do |bytes|
            texts = Calls::Texts.new(bytes)
            all = Array.new([Calls::KEYS, Calls::MOST_BYTES / bytes].min) { |number| texts.text(number) }
            assert_equal [bytes], all.map(&:bytesize).uniq
            assert_equal all, all.uniq
            assert_includes 2.0..5.0, bytes.fdiv(Zlib.deflate(all.first).bytesize) if bytes >= 1_000
          end
        end

        test "a text is right by length, beginning and end" do
          texts = Calls::Texts.new(1_000)
          right = texts.text(3)
          assert texts.right?(3, right.dup)
          [nil, texts.text(4), right.chop, "#{right}.", "x#{right[1..]}", "#{right.chop}\0"].each do |wrong|
            assert_not texts.right?(3, wrong)
          end
        end

        test "a store that loses a byte in the middle is found before anything is measured" do
          store = ActiveSupport::Cache::MemoryStore.new
          store.define_singleton_method(:read) { |name, **| super(name).dup.tap { |text| text[50] = "\0" } }
          contender = Struct.new(:store) { def self.keeps_values? = true }.new(store)
          error = assert_raises(Invalid) { Calls.fill(Bench::Scene.new(contender)) }
          assert_match(/a String of 100 bytes did not come back/, error.message)
        end

        test "a store is full before writes into it are measured" do
          Dir.mktmpdir do |directory|
            store = ActiveSupport::Cache.lookup_store(:larder_store, "#{directory}/c.larder", size: Calls::ROOM)
            contender = Struct.new(:store, :endpoint) { def self.keeps_values? = true }
            scene = Bench::Scene.new(contender.new(store))
            Calls.overfill(scene)
            assert_operator store.cache.stats[:evictions], :>, 0
            assert Calls.write_new(scene, 7)
            assert scene[:texts].right?(7, store.read("new/7"))
          end
        end
      end

      # The contender "floor" answers as a store does, so that it can take part in every block.
      class FloorTest < ActiveSupport::TestCase
        setup { @floor = Contenders::FloorStore.new(dir: nil).open.store }

        test "it answers what it was given, as a copy" do
          text = +"a text that is long enough to be shared by two Strings " * 4
          [text, 7, nil, :name, { "a" => [1] }].each do |value|
            @floor.write(["key", 1], value)
            assert_equal [value], [@floor.read("key/1")]
          end
          @floor.write("text", text)
          text << "changed"
          @floor.read("text") << "changed"
          assert_not_includes @floor.read("text"), "changed"
        end

        test "it sends the events that a store sends" do
          calls = lambda do |store|
            store.write("a", "1")
            store.read("a")
            store.read("missing")
            store.fetch("a") { "missed" }
            store.fetch("b") { "new" }
          end
          heard = [@floor, ActiveSupport::Cache::MemoryStore.new].map { |store| events { calls.call(store) } }
          assert_equal heard.last, heard.first
        end

        private

        def events(&calls)
          seen = []
          listener = ->(name, *_, payload) { seen << [name, payload.slice(:hit, :super_operation)] }
          ActiveSupport::Notifications.subscribed(listener, Shop::EVENTS, &calls)
          seen
        end
      end
    end
  end
end
