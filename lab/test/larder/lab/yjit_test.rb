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

      test "rows with and without YJIT are measured side by side" do
        found = recorded(fixture("pretended_yjit"), *Contenders::WithoutYjit::NAMES.first(2))
        on = found.transform_values { |facts| facts["yjit"] }
        assert_equal({ "larder" => true, "memory" => true, "larder-without-yjit" => false,
                       "memory-without-yjit" => false }, on)
      end

      test "where Ruby cannot turn YJIT on, one row says so" do
        skip "this Ruby can" if CAN
        assert_equal ["larder-without-yjit"], Contenders::WithoutYjit.rows
        outcome = small_run("--only", "memory,larder-without-yjit", "--blocks", "hit")
        assert_equal 0, outcome.status, outcome.err
        assert_match(/larder-without-yjit: this Ruby cannot turn YJIT on, so all rows are without it/,
                     outcome.out.gsub(/\s+/, " "))
      end

      private

      # @param library [String] loaded into each process
      # @return [Hash{String=>Hash}] what was recorded of each row
      def recorded(library, *names)
        with_directory do |dir|
          file = File.join(dir, "run.json")
          rows = names + names.map { |name| "#{name}-without-yjit" }
          outcome = small_run("--only", rows.join(","), "--blocks", "hit", "--json", file,
                              env: { "RUBYOPT" => "#{ENV.fetch("RUBYOPT", "")} -r#{library}" })
          assert_equal 0, outcome.status, outcome.out + outcome.err
          JSON.parse(File.read(file)).dig("chapters", 0, "details", "recorded").slice(*rows)
        end
      end
    end
  end
end
