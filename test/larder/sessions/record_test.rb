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
        { nil => false, "7" => true, "admin/7" => false, "ö" * 127 => true }.each do |user, bound|
          record = Record.parse(Record.of(began: 1, used: 2, values: "{}", user: user, bound: bound).to_bytes)
          assert_equal [user, bound, "{}"].inspect, [record.user, record.bound?, record.values].inspect
          assert_equal [user, bound], [record.with(used: 3).user, record.with(used: 3).bound?]
          assert_nil record.with(used: 3, user: nil, bound: false).user
        end
      end

      test "a session that is used later begins no later" do
        record = Record.of(began: 5, used: 6, values: "{}").with(used: 9)
        assert_equal [5, 9, "{}"], [record.began, record.used, record.values]
      end

      test "a session that is used, changed or bound later is as one that is made so" do
        users = [nil, "7", "ö" * 127]
        users.product([true, false], [2, 2**40 - 1], ["", "\xffé", "{}".b]) do |user, bound, used, values|
          record = Record.of(began: 2**32 + 1, used: 3, values: "long ago", user: user, bound: !bound)
          before = record.to_bytes.dup
          expected = Record.of(began: 2**32 + 1, used: used, values: values, user: user, bound: bound)
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
        assert_nil Record.parse("\2#{whole.byteslice(1..)}")
        assert_nil Record.parse('{"user_id":1,"long":"enough"}')
      end
    end
  end
end
