# frozen_string_literal: true

require "test_helper"
require "larder/cli/registry"

module Larder
  module CLI
    class RegistryTest < ActiveSupport::TestCase
      setup do
        @fruit = Module.new do
          extend Registry
          holds "fruit"
        end
        @fruit.register("pear", :pear)
        @fruit.register("apple", :apple)
      end

      test "entries are found by name and listed as they were registered" do
        assert_equal :apple, @fruit.fetch("apple")
        assert_equal ["pear", "apple"], @fruit.names
      end

      test "an unknown name is an error that lists the known ones" do
        error = assert_raises(UsageError) { @fruit.fetch("bogus") }
        assert_equal "unknown fruit bogus; known: pear, apple", error.message
      end

      test "a name is taken once" do
        assert_raises(ArgumentError) { @fruit.register("pear", :plum) }
        assert_equal :pear, @fruit.register("pear", :pear)
      end

      test "checking names drops repetitions and refuses unknown ones" do
        assert_equal ["apple", "pear"], @fruit.check(["apple", "pear", "apple"])
        assert_raises(UsageError) { @fruit.check(["apple", "bogus"]) }
      end

      test "all stands for every name" do
        assert_equal @fruit.names, @fruit.check(["all"])
      end

      test "what takes part on request only is left out unless it is named" do
        @fruit.register("quince", Class.new { def on_request? = true }.new)
        assert_equal ["pear", "apple"], @fruit.usual
        assert_equal ["quince"], @fruit.check(["quince"])
      end
    end
  end
end
