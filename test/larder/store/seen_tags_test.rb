# frozen_string_literal: true

require "test_helper"

class LarderStoreSeenTagsTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include Processes

  # Loaded before Larder, this makes Ruby as it is on macOS.
  WITHOUT = "Process.send(:remove_const, :CLOCK_BOOTTIME) if defined?(Process::CLOCK_BOOTTIME)"
  SCRIPT = <<~RUBY
    require "active_support"
    require "active_support/cache"
    file, directory = ARGV
    store = ActiveSupport::Cache.lookup_store(:larder_store, file, size: 8 << 20, remote: [:file_store, directory])
    store.fetch("known", tags: "red") { 1 }
    store.fetch("key") { |_, options| (options.tags = "red") && 2 }
    p [store.read("key"), store.delete_tagged("red") && store.read("key"), store.stats.dig(:remote, :waiting)]
  RUBY

  test "where Ruby has no CLOCK_BOOTTIME, misses are computed and tags are known" do
    File.write(path_of("without.rb"), WITHOUT)
    answers = run_ruby(SCRIPT, path_of, path_of("far"), options: ["-r#{path_of("without.rb")}"])
    assert_equal "[2, nil, false]\n", answers
  end
end
