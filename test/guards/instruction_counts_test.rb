# frozen_string_literal: true

require "test_helper"
require_relative "instruction_counts"

module Guards
  # No change makes a call cost more, or less, without somebody saying so: what callgrind counts is what is on record.
  class InstructionCountsTest < ActiveSupport::TestCase
    RUBY_TOLERANCE = 0.005 # a Ruby call's instructions depend a little on where its objects lie
    # Those of a Hash or a record more: malloc looks for its table in what it finds free, which differs from checkout to
    # checkout.
    HASH_TOLERANCE = 0.08
    # A call on the ordinary path, or with a record in its key, runs many Ruby methods, whose caches lie elsewhere in
    # each process; a listener's events are as many more, and objects that are collected.
    ORDINARY_TOLERANCE = 0.01
    EVENTS_TOLERANCE = 0.02
    OBJECT_TOLERANCE = 0.02 # Ruby itself allocates one in a hundred calls, or does not
    ORDINARY = /ordinary path|records in keys/
    HASHES = /a Hash of ten\z|\Asession.* is\z|\A(?:read|write), .*a(?: record|n association)\z/
    # Instructions a call. One of the calls with statistics adds the counts to a file; the longer its path, the more.
    PATH = 0.1
    REMEDY = "If it is meant, record it with `bundle exec rake guards:record` and say in the commit what changed."

    test "a call of the engine takes the instructions on record, exactly or, with statistics, to a tenth" do
      expected = recorded("engine") { InstructionCounts.engine_key }
      assert_counts expected, counted { InstructionCounts.of_engine }, 0.0
    end

    test "a call of the Rails store takes the instructions on record, to half a per cent or, of Hashes, to eight" do
      expected = recorded("ruby") { InstructionCounts.ruby_key }
      assert_counts expected, counted { InstructionCounts.of_ruby }, RUBY_TOLERANCE
    end

    test "where valgrind is missing, that is the reason for not counting" do
      path = ENV.fetch("PATH")
      ENV["PATH"] = "/nonexistent"
      error = assert_raises(Unavailable) { InstructionCounts.engine_key }
      assert_match(/valgrind is not installed/, error.message)
    ensure
      ENV["PATH"] = path
    end

    test "a figure that differs is told with both values, the difference and the remedy" do
      message = assert_raises(Minitest::Assertion) do
        assert_counts({ "get" => 200.0 }, { "get" => 210.0 }, 0.0)
      end.message
      assert_match(/get: 200.0 on record, 210.0 now \(\+5.00 %\)/, message)
      assert_match(/guards:record/, message)
    end

    test "a figure that is on record and not counted any more, or the other way round, is told" do
      assert_raises(Minitest::Assertion) { assert_counts({ "get" => 1.0, "set" => 1.0 }, { "get" => 1.0 }, 0.0) }
      assert_raises(Minitest::Assertion) { assert_counts({ "get" => 1.0 }, { "get" => 1.0, "set" => 1.0 }, 0.0) }
    end

    test "a difference within the tolerance passes, one beyond it does not" do
      assert_counts({ "read" => 1000.0 }, { "read" => 1004.9 }, RUBY_TOLERANCE)
      assert_raises(Minitest::Assertion) { assert_counts({ "read" => 1000.0 }, { "read" => 994.9 }, RUBY_TOLERANCE) }
      assert_counts({ "get, with statistics" => 580.04 }, { "get, with statistics" => 580.13 }, 0.0)
      assert_raises(Minitest::Assertion) do
        assert_counts({ "get, with statistics" => 580.0 }, { "get, with statistics" => 580.2 }, 0.0)
      end
      assert_raises(Minitest::Assertion) { assert_counts({ "get" => 580.004 }, { "get" => 580.005 }, 0.0) }
      assert_counts({ "read: objects" => 1.0 }, { "read: objects" => 1.01 }, RUBY_TOLERANCE)
      assert_raises(Minitest::Assertion) do
        assert_counts({ "read: objects" => 1.0 }, { "read: objects" => 2.0 }, 0.005)
      end
    end

    private

    def counted
      yield
    rescue Unavailable => error
      skip error.message
    end

    # The key names versions of tools that may be missing.
    def recorded(part, &key)
      name = counted(&key)
      InstructionCounts.recorded.fetch(part).fetch(name) do
        skip "nothing is on record for #{name}; `bundle exec rake guards:record` records it"
      end
    end

    def assert_counts(expected, found, tolerance)
      names = expected.keys | found.keys
      changed = names.filter_map do |name|
        allowed = name.match?(HASHES) ? HASH_TOLERANCE : tolerance
        allowed = [allowed, ORDINARY_TOLERANCE].max if name.match?(ORDINARY) && tolerance.positive?
        allowed = [allowed, EVENTS_TOLERANCE].max if name.include?("a listener to every event")
        difference(name, expected[name], found[name], allowed)
      end
      changed.empty? ? pass : flunk("#{changed.join("\n")}\n#{REMEDY}")
    end

    def difference(name, old, new, tolerance)
      return "#{name}: #{old || "nothing"} on record, #{new || "nothing"} now" if old.nil? || new.nil?

      least = 0.0
      least = OBJECT_TOLERANCE if name.end_with?(": objects")
      least = PATH if name.end_with?(", with statistics")
      return if (new - old).abs <= [old * tolerance, least].max

      format("%s: %s on record, %s now (%+.2f %%)", name, old, new, 100.0 * (new - old) / old)
    end
  end
end
