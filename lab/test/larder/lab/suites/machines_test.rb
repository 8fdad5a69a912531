# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Suites
      module Machines
        # How long a change was not seen, from times made by hand.
        class AgesTest < ActiveSupport::TestCase
          test "an age lasts until the last read that answered what was before" do
            assert_equal [0.4], ages([[0.9, 1.0]], 0 => 1.4, 1 => 3.0)
            assert_equal [0.3], ages([[0.9, 1.0]], 1 => 1.1, 0 => 1.3)
          end

          test "what was seen before the write had returned is not old" do
            assert_equal [0.0], ages([[0.9, 1.0]], 0 => 0.8, 1 => 3.0)
            assert_equal [0.0], ages([[0.9, 1.0]], 1 => 3.0)
          end

          test "a change that another one has overtaken is as old as what is before it" do
            assert_equal [0.4, 0.2], ages([[0.9, 1.0], [1.1, 1.2]], 0 => 1.4, 2 => 3.0)
          end

          test "a value that is lost is wrong, not old" do
            ages = Ages.new(ActiveSupport::Cache::MemoryStore.new)
            capture_io { assert_match(/a watched key is lost/, assert_raises(Invalid) { ages.watch(now + 1) }.message) }
          end

          private

          def ages(changes, reads) = Ages.of(changes, reads).map { |age| age.round(9) }
        end
      end
    end
  end
end
