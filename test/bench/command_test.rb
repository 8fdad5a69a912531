# frozen_string_literal: true

require "test_helper"
require_relative "../../bench/support/command"

module Bench
  # bench/run names the parts that it could not measure, and those that it measured earlier.
  class CommandTest < ActiveSupport::TestCase
    include TemporaryDirectory

    # Saves its results apart from those of the checkout.
    class Apart < Command
      attr_writer :store

      private

      attr_reader :store
    end

    test "a run whose parts all fail names them, writes no report of earlier parts, and fails" do
      save("density")
      error = nil
      _, said = capture_subprocess_io do
        error = assert_raises(Larder::CLI::Failure) do
          measured_with("--only", "misses", "--traces", path_of("gone.trace"))
        end
      end
      assert_match(/^bench\/run: misses could not be measured: /, said)
      assert_equal "nothing was measured, and no report written; --report writes one of the results that are saved",
                   error.message
      assert_empty Dir[path_of("*.md")]
    end

    test "a run without any result says that nothing was measured" do
      error = assert_raises(Larder::CLI::Failure) { measured_with("--report") }
      assert_equal "nothing was measured, and no report written", error.message
    end

    test "a report names the parts that were measured earlier, and when" do
      save("density")
      said, = capture_io { assert_equal 0, measured_with("--report") }
      assert_match(/^measured earlier: density$/, said)
      assert_match(/^Quick run of 2026-11-02, commit abc1234, load 0.1 at its start\.$/, File.read(path_of("speed.md")))
    end

    private

    def measured_with(*arguments)
      command = Apart.new
      command.store = directory
      command.run(["--quick", "--out", directory, *arguments])
    end

    def save(part)
      environment = { cores: 2, load_average: 0.1, date: "2026-11-02", commit: "abc1234" }
      figures = [{ name: "100 bytes: overhead an object, before eviction", unit: "bytes", median: 31.0 }]
      File.write(path_of("#{part}.json"),
                 JSON.generate(mode: "quick", environment: environment, circumstances: {}, figures: figures))
    end
  end
end
