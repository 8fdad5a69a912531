# frozen_string_literal: true

require "test_helper"
require "larder/sessions/repository"

module Larder
  module Sessions
    class RecordTest < ActiveSupport::TestCase
      test "what is kept comes back, also after 2106" do
        [[0, 0], [1_800_000_000, 1_800_000_060], [2**32, 2**32 + 5], [2**40 - 1, 2**40 - 1]].each do |began, used|
          record = Record.parse(Record.of(began: began, used: used, values: "\xffé").to_bytes)
          assert_equal [began, used, "\xffé".b], [record.began, record.used, record.values]
        end
      end

      test "whose it is comes back, and whether that was bound" do
        names = ["User/7", "Admin/7", "ö" * 127, "x" * 255]
        [[[], []], [names, []], [names, names], [names, ["Guest/1", names[1]]],
         [[], names.first(1)]].each do |users, bound|
          record = Record.parse(Record.of(began: 1, used: 2, values: "{}", users: users, bound: bound).to_bytes)
          assert_equal [bound | users, bound, "{}"].inspect, [record.users, record.bound, record.values].inspect
          assert_equal (bound | users).any?, record.user?
          assert_equal record.to_bytes.byteslice(12..), record.with(used: 3).to_bytes.byteslice(12..)
          refute_predicate record.with(used: 3, users: [], bound: []), :user?
        end
      end

      test "its own lifetime comes back, and stays until another is given" do
        assert_nil Record.of(began: 1, used: 2, values: "{}").life
        record = Record.parse(Record.of(began: 1, used: 2, values: "{}", life: 2**32 - 1).to_bytes)
        assert_equal [2**32 - 1, 2**32 - 1, 5, nil, "{}"],
                     [record.life, record.with(used: 3).life, record.with(used: 3, life: 5).life,
                      record.with(used: 3, life: nil).life, record.values]
      end

      test "that its cookie is awaited comes back, and stays until it has come" do
        [nil, 60].each do |life|
          record = Record.parse(Record.of(began: 1, used: 2, values: "{}", life: life, awaited: true).to_bytes)
          later = [record, record.with(used: 3), record.with(used: 3, awaited: false)]
          assert_equal [[true, life], [true, life], [false, life]], later.map { |one| [one.awaited?, one.life] }
          refute(later.any?(&:moved?))
        end
      end

      test "more users than can be counted are refused" do
        names = Array.new(256) { |i| "User/#{i}" }
        error = assert_raises(InvalidArgument) { Record.of(began: 1, used: 2, values: "", users: names) }
        assert_match(/256 users: 255 at most/, error.message)
        record = Record.of(began: 1, used: 2, values: "{}", users: names.first(255))
        assert_equal names.first(255), Record.parse(record.to_bytes).users
      end

      test "a session that is used later begins no later" do
        record = Record.of(began: 5, used: 6, values: "{}").with(used: 9)
        assert_equal [5, 9, "{}"], [record.began, record.used, record.values]
      end

      test "a session that is used, changed or bound later is as one that is made so" do
        users = [[], ["User/7"], ["ö" * 127, "User/7"]]
        users.product([[], ["User/8"]], [2, 2**40 - 1], ["", "\xffé", "{}".b]) do |some, bound, used, values|
          record = Record.of(began: 2**32 + 1, used: 3, values: "long ago", users: some, bound: ["User/9"] - bound)
          before = record.to_bytes.dup
          expected = Record.of(began: 2**32 + 1, used: used, values: values, users: record.users, bound: bound)
          [record, Record.parse(before.dup.force_encoding(Encoding::UTF_8))].each do |one|
            assert_equal expected.to_bytes, one.with(used: used, values: values, bound: bound).to_bytes
          end
          assert_equal before, record.to_bytes
        end
      end

      test "bytes of another version, and too few, are none" do
        whole = Record.of(began: 1, used: 2, values: "").to_bytes
        assert_equal "", Record.parse(whole).values
        (0...whole.bytesize).each { |bytes| assert_nil Record.parse(whole.byteslice(0, bytes)), bytes }
        named = Record.of(began: 1, used: 2, values: "", users: ["User/7", "Admin/8"]).to_bytes
        (0...named.bytesize).each { |bytes| assert_nil Record.parse(named.byteslice(0, bytes)), bytes }
        assert_nil Record.parse("\1#{whole.byteslice(1..)}")
        assert_nil Record.parse('{"user_id":1,"long":"enough"}')
      end
    end
  end
end
