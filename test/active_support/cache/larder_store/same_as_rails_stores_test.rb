# frozen_string_literal: true

# LarderStore, on both paths, beside MemoryStore and FileStore: thousands of generated calls must give the same answers,
# exceptions and notifications, but for what docs/reference/differences.md names.
#
# LARDER_CONTRACT_CALLS sets how many, LARDER_CONTRACT_SEED the seed in place of Minitest's.

require "support/store_case"
require "support/differential/comparison"
require "support/differential/rails_generator"

module LarderStoreTests
  class SameAsRailsStoresTest < StoreCase
    CALLS = Integer(ENV.fetch("LARDER_CONTRACT_CALLS", 1500))
    LENGTH = 25
    MOST = 5 # differences that are told
    GUIDE = File.expand_path("../../../../docs/reference/differences.md", __dir__)

    # Before Rails 8.0 the names before a blank one are read.
    BLANK = ['store.write("a", 1, expires_in: 1)', "later(5)", 'store.read_multi("a", "")',
             'store.delete_multi(["a"])'].freeze

    # What shows a difference that is known.
    SHOWN = {
      "counting a value without to_i" => [['store.write("a", [1])', 'store.increment("a")'],
                                          ['store.write("a", false)', 'store.fetch("b") { store.decrement("a"); "" }']],
      "the version of a counter" => [['store.increment(["a", :b])', 'store.read("a/b", version: 1)'],
                                     ['store.increment(Named.new("a"))', 'store.read(Versioned.new("a", "v2"))'],
                                     ['store.increment(["a", :b])', 'store.increment("a/b", version: 1)']],
      "deleting an expired entry" => [['store.write("a", 1, expires_in: 1)', "later(400)", 'store.delete("a")'],
                                      *([BLANK] if ActiveSupport::VERSION::MAJOR < 8)],
      "Rails' stores differ" => [['store.write("a", 1, expires_in: 1)', "later(5)",
                                  'store.write("a", 2, unless_exist: true)']]
    }.freeze

    setup { @tally = Hash.new(0) }

    test "generated calls answer and announce as in Rails' stores, on both paths" do
      skip "the stores of Rails 7.1 take other arguments" if ActiveSupport.version < Gem::Version.new("7.2")

      seed = Integer(ENV.fetch("LARDER_CONTRACT_SEED", Minitest.seed))
      found = (0...(CALLS / LENGTH)).lazy.filter_map do |number|
        generator = Differential::RailsGenerator.new(Random.new((seed * 1_000_003) + number))
        difference = comparison.difference(*generator.setup, generator.steps(LENGTH))
        "LARDER_CONTRACT_SEED=#{seed}, sequence #{number}: #{difference}" if difference
      end.first(MOST)
      flunk(found.join("\n\n")) if found.any?
      tell(seed)
    end

    SHOWN.each do |name, sequences|
      test "a difference is known: #{name}" do
        sequences.each do |steps|
          @tally.clear
          assert_nil comparison.difference("{}", nil, steps)
          assert_operator @tally[name], :>, 0, steps.join("; ")
        end
      end
    end

    test "a delete that counts what nobody kept is told, also where time has gone by" do
      only_here = '(store.write("a", 1) if store.instance_of?(ActiveSupport::Cache::LarderStore)); nil'
      found = comparison.difference("{}", nil, [only_here, "later(5)", 'store.delete("a")'])
      assert_equal ["TrueClass true", "FalseClass false"], [found.seen, found.others[:file]].pluck(:result)
    end

    test "the guide names each known difference, and no other" do
      rows = File.readlines(GUIDE, encoding: "UTF-8").filter_map { |line| line[/\A\| ([^|]+) \|/, 1] }
      assert_equal Differential::KnownDifferences::NAMES.sort, (rows - ["what"]).sort
    end

    test "a difference is found, and told by the shortest sequence that has it" do
      only_here = 'store.write("b", store.instance_of?(ActiveSupport::Cache::LarderStore) ? 1 : 2)'
      steps = ['store.write("a", 1)', only_here, 'store.fetch("c") { 3 }', "later(1)", 'store.read("b")', "later(2)"]
      found = comparison.difference("{ expires_in: 60 }", nil, steps)
      assert_equal [[only_here, 'store.read("b")'], "{}"], [found.steps, found.setup]
      assert_equal ["Integer 1", "Integer 2"], [found.seen, found.others[:file]].pluck(:result)
    end

    private

    def comparison
      @comparison ||= Differential::Comparison.new(directory, @tally)
    end

    # For bin/proof.
    def tell(seed)
      puts "@ #{CALLS} calls and what is around them, each played on MemoryStore, FileStore and both paths"
      @tally.each { |name, count| puts "@ #{count} met of what is known to differ: #{name}" }
      puts "@note seed #{seed}"
    end
  end
end
