# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "larder/lab/loads/herd"

module Larder
  module Lab
    module Loads
      class HerdTest < ActiveSupport::TestCase
        setup { @store = ActiveSupport::Cache::MemoryStore.new }

        test "a rush tells what each caller got, and whether its own block made it" do
          callers = herd.rush(key: "key", start: now)[:callers]
          assert_equal 3, callers.size
          made = callers.filter_map { |caller| caller[:made] }
          assert_predicate made, :any?
          assert_equal made, made.uniq
          assert_empty callers.map { |caller| caller[:value] } - made
        end

        test "a value that is there runs no block" do
          @store.write("key", "there")
          assert_equal [[nil, "there"]], herd.rush(key: "key", start: now)[:callers]
                                               .map { |caller| caller.values_at(:made, :value) }.uniq
        end

        test "reads are counted by when they began, and the block runs after the value has expired" do
          written = now
          start = written + 1.5 # the value expires after a second
          read = herd.read(key: "key", start: start, seconds: 0.1, work: "cpu")
          assert_nil read[:wrong]
          (first, last) = read[:runs].first
          assert_operator first, :>=, written + 0.9
          assert_operator last, :>, first
          possible = [start, now].map { |time| (time / Herd::SLICE).floor }
          assert(read[:slices].keys.all? { |at| at.between?(*possible) })
          assert_operator read[:slices].values.sum { |slice| slice[:count] }, :>=, read[:runs].size
        end

        test "an answer that is not the value is kept, however short the time" do
          store = Class.new(ActiveSupport::Cache::MemoryStore) { define_method(:fetch) { |*, **| "other" } }.new
          read = Herd.new(store, "block" => 0.01).read(key: "key", start: now - 1, seconds: 0.01, work: "io")
          assert_equal ["other"], read[:wrong]
        end

        private

        def herd
          Herd.new(@store, "threads" => 3, "block" => 0.02)
        end
      end
    end
  end
end
