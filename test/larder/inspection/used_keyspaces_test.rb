# frozen_string_literal: true

require "test_helper"
require "larder/inspection"
require "support/usages"

module Larder
  module Inspection
    # Rows of keyspaces by traffic.
    class UsedKeyspacesTest < ActiveSupport::TestCase
      include Usages

      def used(keyspaces, minutes: {}, rest: {})
        found = usage(keyspaces: keyspaces, minutes: minutes, rest: rest)
        UsedKeyspaces.of(found, found.last(3600, now: NOW))
      end

      test "the ten with most traffic in the last hour have rows, and all others one" do
        spaces = Array.new(12) { |i| ["space #{i}", { hits: 10 * (i + 1) }] }.to_h
        found = used(spaces, minutes: { NOW - 67 => [{ hits: 1000 }, spaces] })
        assert_equal "in the last hour", found.time
        assert_equal [*(2..11).map { |i| "space #{i}" }.reverse, "(others)"], found.rows.map(&:shown)
        assert_nil found.rows.last.name
        assert_equal 1000 - (3..12).sum * 10, found.rows.last.counts.reads
        assert_in_delta 0.12, found.share(found.rows.first.counts)
        refute_predicate found, :sampled?
      end

      test "where none was used in the last hour they are those of all time" do
        found = used({ "a\n" => { stores: 1, store_variance: 4 } }, rest: { hits: 1 })
        assert_match(/\Asince .*; none was used in the last hour\z/, found.time)
        assert_equal ["a\\x0A", "(others)"], found.rows.map(&:shown)
        assert_predicate found, :sampled?
      end

      test "shares are unknown where nothing was read" do
        found = used({ "a" => { stores: 1 } })
        assert_nil found.share(found.rows.first.counts)
      end
    end
  end
end
