# frozen_string_literal: true

require "test_helper"
require "active_support/core_ext/numeric/time"
require "larder/sessions/repository"

module Larder
  module Sessions
    class ChangeTest < ActiveSupport::TestCase
      test "the same session is no change, in whichever order its keys stand" do
        assert_predicate change({ "a" => 1, "b" => [2] }, { "b" => [2], "a" => 1 }), :none?
      end

      test "what was added, changed within and removed is done again to another state" do
        change = change({ "cart" => { "pear" => 1 }, "gone" => 1, "same" => 1 },
                        { "cart" => { "pear" => 2 }, "same" => 1, "new" => nil })
        assert_equal({ "cart" => { "pear" => 2 }, "same" => 7, "others" => 3, "new" => nil },
                     change.applied_to("cart" => { "pear" => 9 }, "gone" => 5, "same" => 7, "others" => 3))
      end

      test "of one key the later change stays" do
        assert_equal({ "a" => 2 }, change({ "a" => 1 }, { "a" => 2 }).applied_to("a" => 3))
      end

      test "the CSRF token of the first writer stays, and can be changed by who has seen it" do
        assert_equal({ "_csrf_token" => "first" }, change({}, { "_csrf_token" => "mine" })
          .applied_to("_csrf_token" => "first"))
        assert_equal({ "_csrf_token" => "mine" }, change({}, { "_csrf_token" => "mine" }).applied_to({}))
        assert_equal({ "_csrf_token" => "new" }, change({ "_csrf_token" => "old" }, { "_csrf_token" => "new" })
          .applied_to("_csrf_token" => "old"))
      end

      test "each flash message is a value of its own" do
        [["flash", ->(all) { { "flashes" => all } }], ["_flash", ->(all) { all }]].each do |key, form|
          [
            # found, as the request leaves it, as others left it, merged
            [nil, { "a" => 1 }, { "b" => 2 }, { "a" => 1, "b" => 2 }],
            [{ "a" => 1 }, nil, { "a" => 1, "b" => 2 }, { "b" => 2 }],
            [{ "a" => 1 }, nil, { "a" => 3 }, { "a" => 3 }],
            [{ "a" => 1 }, { "b" => 2 }, nil, { "b" => 2 }],
            [{ "a" => 1 }, { "a" => 2 }, { "a" => 3 }, { "a" => 2 }],
            [{ "a" => 1 }, nil, nil, nil],
            [{ "a" => 1 }, nil, { "a" => 1 }, nil]
          ].each do |states|
            before, mine, now, merged = states.map { |all| all ? { key => form.call(all) } : {} }
            assert_equal merged, change(before, mine).applied_to(now), states.inspect
          end
        end
        assert_equal({ "flash" => "mine" }, change({}, { "flash" => "mine" }).applied_to("flash" => ["others"]))
      end

      test "1 and 1.0 differ, as their bytes do" do
        assert_not_predicate change({ "a" => 1 }, { "a" => 1.0 }), :none?
        assert_not_predicate change({ "a" => 1 }, { "a" => 1.second }, Format::Marshalled), :none?
      end

      test "texts are the same where their bytes would be, whatever their encoding says" do
        assert_predicate change({ "a" => "x" }, { "a" => "x".encode("US-ASCII") }), :none?
        assert_not_predicate change({ "a" => "x" }, { "a" => "y" }), :none?
        assert_not_predicate change({ "a" => "x" }, { "a" => nil }), :none?
        assert_not_predicate change({ "a" => nil }, { "a" => false }), :none?
        extended = "x".dup.extend(Enumerable)
        assert_not_predicate change({ "a" => "x" }, { "a" => extended }, Format::Marshalled), :none?
        named = "x".dup.tap { |text| text.instance_variable_set(:@name, 1) }
        assert_not_predicate change({ "a" => "x" }, { "a" => named }, Format::Marshalled), :none?
      end

      private

      def change(before, after, format = Format::Json)
        Changeset.between(before, after, format)
      end
    end
  end
end
