# frozen_string_literal: true

require "test_helper"
require "active_support"
require "active_support/core_ext/hash/indifferent_access"
require "active_support/core_ext/time"
require "bigdecimal"
require "set"
require "larder/inspection"
require "larder/codecs"

module Larder
  module Inspection
    module Values
      # Larder's own format, as text.
      class TreeReaderTest < ActiveSupport::TestCase
        def shown(bytes)
          input = Input.new(bytes)
          group = Group.new("", "")
          note = input.read_into(group) { TreeReader.new(input).read(group) }
          [group.parts.map { |_, node| node.inline }.join, note]
        end

        SHOWN = {
          [0, 127, 128, -1, -32, -33, 70_000, -(2**40), 2**62] =>
            "[0, 127, 128, -1, -32, -33, 70000, -1099511627776, 4611686018427387904]",
          [1.5, nil, true, false, :a, :a, "", "größe", "\xFF".b, "x" * 40] =>
            "[1.5, nil, true, false, :a, :a, \"\", \"größe\", \"\\xFF\", \"#{"x" * 40}\"]",
          { a: 1, "b" => [2] } => "{a: 1, \"b\" => [2]}", { 1 => 2, [3] => 4 } => "{1 => 2, [3] => 4}",
          [{ id: 1, n: "a" }, { id: 2, n: "b" }] => "[{id: 1, n: \"a\"}, {id: 2, n: \"b\"}]",
          [Time.utc(2026, 11, 29, 5, 40, 1.5)] => "[#<Time 2026-11-29 05:40:01.500000000 UTC>]",
          [Set[1, 2], 2**70, BigDecimal("1.5"), 1..2] =>
            "[Set[1, 2], 1180591620717411303424, #<BigDecimal [\"0.15e1\"]>, #<Range [1, 2, false]>]",
          { a: 1, b: 2 }.with_indifferent_access => "#<ActiveSupport::HashWithIndifferentAccess \"a\" => 1, \"b\" => 2>"
        }.freeze

        test "values are shown as Ruby writes them" do
          SHOWN.each do |value, text|
            bytes = Tree.dump(value, true) or flunk "no bytes for #{value.inspect}"
            assert_equal [text, nil], shown(bytes)
          end
        end

        test "an object that occurs again is not shown twice" do
          list = %w[a b]
          text, note = shown(Tree.dump([list, list, { k: list }], true))
          assert_nil note
          assert_equal "[[\"a\", \"b\"], [...], {k: [...]}]", text
        end

        test "a line says where damaged bytes are wrong" do
          { "" => /byte 0: it ends here/, "\xAD\xFF\xFF\xFF\x7F" => /bytes are left/,
            "\xAC\x00" => /did not come before/,
            "\xC5" => /shape did not come/, "\xB1\xFE\x00" => /unknown class 254/, "\xB3\x00" => /did not come before/,
            "\xB4" => /unknown tag 180/, "\xAD\x01" * 5000 => /levels/ }.each do |bytes, message|
            assert_match message, shown(bytes.b).last.to_s, bytes.inspect
          end
        end

        test "any bytes end in a tree of limited size" do
          random = Random.new(49)
          seeds = SHOWN.keys.map { |value| Tree.dump(value, true) }
          4000.times do
            bytes = random.rand(4).zero? ? random.bytes(random.rand(80)) : seeds.sample(random: random).dup
            random.rand(6).times { bytes.setbyte(random.rand(bytes.bytesize), random.rand(256)) unless bytes.empty? }
            text, note = shown(bytes)
            assert_operator text.size, :<, 200_000
            assert_match(/\A(damaged at byte \d+: |only the first|more than)/, note) if note
          end
        end
      end
    end
  end
end
