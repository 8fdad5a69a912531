# frozen_string_literal: true

# The fast path and the ordinary path beside each other: thousands of generated calls, once through either, must give
# the same results, exceptions, notifications, log lines, reports, and the same bytes in the file.
#
# LARDER_DIFFERENTIAL_CALLS sets how many, LARDER_DIFFERENTIAL_SEED the seed in place of Minitest's.

require "support/store_case"
require "support/differential/generator"
require "support/differential/larder_stage"
require "support/differential/shrinking"

module LarderStoreTests
  class FastPathDifferentialTest < StoreCase
    CALLS = Integer(ENV.fetch("LARDER_DIFFERENTIAL_CALLS", 4000))
    LENGTH = 25
    FAST = %i[fetch read write delete exist? read_multi write_multi fetch_multi].freeze
    # Options of which Larder's own methods in Ruby take care.
    OWN = /single_flight|stale_if_error|jitter/
    CALL = /\A(?:catch\(:out\) \{ )?store\.(?:#{FAST.map { |name| Regexp.escape(name) }.join("|")})\(/

    # Calls of which Rails' methods must see nothing. Each finds what those before it left.
    SIMPLE = [
      'store.fetch("a") { 1 }', 'store.fetch("a") { 2 }', 'store.read("a")', 'store.read("nobody")', "store.read(:a)",
      'store.read(["a", 1])', 'store.write("a", "text")', 'store.read("a")', 'store.read("a", namespace: "n")',
      'store.write("a", nil, expires_in: 5)', 'store.write("b", :b, expires_in: 1.minute, race_condition_ttl: 10)',
      'store.fetch("c", expires_in: 0.5) { |_, entry| entry.expires_in = 2; "c" }', 'store.read("c")', "later(3)",
      'store.read("c")', 'store.fetch("c", skip_nil: true) { nil }', 'store.fetch("d") { store.fetch("e") { 1 } }',
      'store.read_multi("a", :b, 1)', 'store.write_multi({ "a" => 1, "b" => "2" })', 'store.read_multi("a", "b")',
      'store.fetch_multi("a", "x", expires_in: 5) { |name| name * 2 }', 'store.write("h", { a: 1 })', 'store.read("h")',
      'store.exist?("a")', 'store.delete("a")', 'store.write("a", 1, {})', 'store.fetch("l", { expires_in: 5 }) { 1.5 }'
    ].freeze

    test "generated calls do the same on both paths while time is frozen" do
      compare(CALLS, real_clock: false)
    end

    test "generated calls do the same on both paths by the real clock" do
      compare(CALLS / 5, real_clock: true)
    end

    test "both paths find an entry expired in the same millisecond" do
      lives = { 915_783 => 0.37r, 301_111 => 0.69r, 491_674 => 0.104r, 8341 => 0.96r, 56_543 => 0.61r }
      lives.each do |ms, life|
        start = Time.at(1_900_000_000, ms, :millisecond)
        travel_to(start, with_usec: true)
        store.write("key", 1, expires_in: life.to_f)
        [-0.001r, 0r, 0.001r].each do |around|
          travel_to(start + life + around, with_usec: true)
          ordinary = Larder::Store::FastPath.without { store.exist?("key") }
          assert_equal ordinary, store.exist?("key"), "#{ms} ms, #{life} s, #{around} s after it"
        end
      end
    end

    test "what has expired is there after an error of a call that serves stale values, as it was before" do
      write = 'store.write("a", 1, expires_in: 5, race_condition_ttl: 60)'
      ["stale_if_error: 1", "stale_while_revalidate: 1", "single_flight: true, early_refresh: true"].each do |options|
        fast, ordinary = play_both("{}", [write, "later(6)", "store.fetch('a', #{options}) { proc { 1 } }"])
        assert_equal ordinary, fast
        assert_equal 1, fast.last[:records].size
      end
    end

    test "another process reads the same from both files" do
      generator = Differential::Generator.new(Random.new(Minitest.seed))
      5.times do
        setup, steps = generator.setup, generator.steps(LENGTH)
        fast = on_stage(setup) { |stage| stage.play(steps) && in_child { stage.records_at_end } }
        ordinary = on_stage(setup) do |stage|
          Larder::Store::FastPath.without { stage.play(steps) } && in_child { stage.records_at_end }
        end
        assert_equal ordinary, fast, [setup, *steps].join("\n")
      end
    end

    # Otherwise the tests above would compare the ordinary path with itself.
    test "simple calls never enter Rails' methods" do
      entered = []
      play_both("{}", SIMPLE) { |step, into_rails, path| entered << step if into_rails && path == :fast }
      assert_empty entered
    end

    test "a quarter of the generated calls at least never enter Rails' methods, and all do without the fast path" do
      generator = Differential::Generator.new(Random.new(Minitest.seed))
      entered = { fast: [], ordinary: [] }
      12.times do
        play_both("{}", generator.steps(LENGTH)) do |step, into_rails, path|
          entered[path] << into_rails if CALL.match?(step) && !OWN.match?(step)
        end
      end
      assert_equal [true], entered[:ordinary].uniq
      assert_operator entered[:fast].count(false), :>, entered[:fast].size / 4
    end

    private

    def compare(calls, real_clock:)
      seed = Integer(ENV.fetch("LARDER_DIFFERENTIAL_SEED", Minitest.seed))
      (calls / LENGTH).times do |i|
        @real_clock = real_clock
        generator = Differential::Generator.new(Random.new((seed * 1_000_003) + i), real_clock: real_clock)
        setup, steps = generator.setup, generator.steps(LENGTH)
        fast, ordinary = play_both(setup, steps)
        place = "LARDER_DIFFERENTIAL_SEED=#{seed}, sequence #{i}#{", real clock" if @real_clock}"
        assert fast == ordinary, -> { failure_of(setup, steps, [fast, ordinary], place) }
      end
    end

    # @yieldparam step [String]
    # @yieldparam into_rails [Boolean] did it enter a method of ActiveSupport::Cache::Store that the fast path replaces?
    # @yieldparam path [Symbol]
    def play_both(setup, steps)
      fast = on_stage(setup) do |stage|
        stage.play(steps) { |step, entered| yield step, entered, :fast if block_given? }
      end
      ordinary = on_stage(setup) do |stage|
        Larder::Store::FastPath.without do
          stage.play(steps) { |step, entered| yield step, entered, :ordinary if block_given? }
        end
      end
      [fast, ordinary]
    end

    def on_stage(setup)
      Dir.mktmpdir("stage", directory) do |place|
        stage = Differential::LarderStage.new(File.join(place, "test.larder"), setup, real_clock: @real_clock)
        yield stage
      ensure
        stage&.close
      end
    end

    # The shortest sequence that still fails, found by leaving steps out, and the first difference in it; of one that
    # passes when it is played again the difference that there was.
    def failure_of(setup, steps, seen, place)
      shortest = Differential::Shrinking.shortest(steps) { |shorter| play_both(setup, shorter).uniq.size > 1 }
      again = play_both(setup, shortest)
      if again.uniq.size > 1
        steps, seen = shortest, again
      else
        place += ", but not when played again"
      end
      at = seen.first.zip(seen.last).index { |one, other| one != other }
      [place, "store = LarderStore.new(path, #{setup})", *steps[0..at], told(*seen.map { |path| path[at] })].join("\n")
    end

    def told(fast, ordinary)
      fast.keys.reject { |kind| fast[kind] == ordinary[kind] }.map do |kind|
        "#{kind}, fast path:\n#{lines(fast[kind])}\n#{kind}, ordinary path:\n#{lines(ordinary[kind])}"
      end.join("\n")
    end

    def lines(told)
      Array(told).map { |line| "  #{line}" }.join("\n")
    end
  end
end
