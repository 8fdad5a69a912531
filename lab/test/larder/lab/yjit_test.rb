# frozen_string_literal: true

require "test_helper"
require "larder/lab/yjit"

module Larder
  module Lab
    class YjitTest < ActiveSupport::TestCase
      # Where this Ruby turns YJIT on while it runs.
      CAN = defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:enable)

      slow_test "a store without an application, one that brings an application, and the report all have YJIT alike" do
        with_directory do |dir|
          file = File.join(dir, "run.json")
          run = small_run("--only", "memory,solid_cache", "--blocks", "hit", "--json", file)
          assert_equal 0, run.status, run.err
          document = JSON.parse(File.read(file))
          skip "Solid Cache is not installed" if run.out.include?("solid_cache: ")
          assert_equal CAN ? "on" : "off", document.dig("environment", "yjit")
          assert_match(/YJIT #{document.dig("environment", "yjit")}$/, run.out)
        end
      end
    end
  end
end
