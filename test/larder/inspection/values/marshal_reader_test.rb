# frozen_string_literal: true

require "test_helper"
require "active_support/core_ext/kernel/reporting"
require "bigdecimal"
require "date"
require "set"
require "larder/inspection"

module Larder
  module Inspection
    module Values
      # The structure of Marshal's bytes, which are never loaded.
      class MarshalReaderTest < ActiveSupport::TestCase
        Point = Struct.new(:x, :y)
        Text = Class.new(String)

        # An object with itself and a String twice.
        class Knot
          def initialize
            @name = "shared"
            @me = self
            @again = @name
          end
        end

        # Its methods run where it is loaded.
        class Trap
          def marshal_dump
            ["inside"]
          end

          def marshal_load(_parts)
            raise "loaded"
          end
        end

        def shown(bytes)
          input = Input.new(bytes)
          group = Group.new("", "")
          note = input.read_into(group) { MarshalReader.new(input).read(group) }
          [group.parts.map { |_, node| node.inline }.join, note]
        end

        test "an encoding that Ruby knows and does not have is none" do
          bytes = Marshal.dump("text".encode(Encoding::EUC_JP)).sub("EUC-JP", "internal").sub("\x0B".b, "\x0D".b)
          internal = Encoding.default_internal
          silence_warnings { Encoding.default_internal = nil }
          assert_equal ["\"text\"", nil], shown(bytes)
        ensure
          silence_warnings { Encoding.default_internal = internal }
        end

        SHOWN = {
          nil => "nil", true => "true", false => "false", 0 => "0", 122 => "122", 123 => "123", -123 => "-123",
          -124 => "-124", 255 => "255", 256 => "256", -256 => "-256", -257 => "-257", 65_536 => "65536",
          (2**30) - 1 => "1073741823", 2**30 => "1073741824", -(2**64) => "-18446744073709551616", 1.5 => "1.5",
          Float::INFINITY => "inf", :name => ":name", :"odd name" => ":\"odd name\"", :größe => ":\"größe\"",
          "text" => "\"text\"", "größe" => "\"größe\"", "\xFF".b => "\"\\xFF\"", "a\u202Eb" => "\"a\\u{202E}b\"",
          [1, [2, []]] => "[1, [2, []]]", { a: 1, "b" => 2, 3 => nil } => "{a: 1, \"b\" => 2, 3 => nil}",
          Hash.new(7).merge(a: 1) => "{a: 1, (default) 7}", /a.b/mi => "/a.b/mi", String => "String",
          Kernel => "Kernel", 1..2 => "#<Range excl=false, begin=1, end=2>",
          Time.utc(2026, 11, 29, 5, 40, 1.25) => "#<Time 2026-11-29 05:40:01.250000 UTC, zone=\"UTC\">",
          BigDecimal("1.5") => "#<BigDecimal \"18:0.15e1\">", Rational(1, 2) => "#<Rational [1, 2]>"
        }.freeze

        test "values are shown as Ruby writes them" do
          SHOWN.each { |value, text| assert_equal [text, nil], shown(Marshal.dump(value)) }
        end

        test "objects are shown by their class and what they have" do
          assert_equal ["#<struct #{Point} x=1, y=\"z\">", nil], shown(Marshal.dump(Point.new(1, "z")))
          assert_equal ["#<#{Text} \"sub\">", nil], shown(Marshal.dump(Text.new("sub")))
          assert_equal ["#<#{Knot} @name=\"shared\", @me=#<#{Knot} ...>, @again=\"shared\">", nil],
                       shown(Marshal.dump(Knot.new))
          twice = "twice"
          latin = "\xE4".dup.force_encoding(Encoding::ISO_8859_1)
          assert_equal ["[\"twice\", \"twice\", :a, :a, \"ä\"]", nil],
                       shown(Marshal.dump([twice, twice, :a, :a, latin]))
        end

        test "nothing is loaded, and no class is looked for" do
          assert_equal ["#<#{Trap} [\"inside\"]>", nil], shown(Marshal.dump(Trap.new))
          assert_equal ["#<Nowhere::AtAll @a=1>", nil], shown("\x04\bo:\x13Nowhere::AtAll\x06:\a@ai\x06".b)
          assert_not Object.const_defined?(:Nowhere)
          assert_equal ["\"a\"", nil], shown("\x04\bI\"\x06a\x06:\rencoding\"\x0Anonse".b)
        end

        test "long and deep values are cut, and the cut is explained" do
          text, note = shown(Marshal.dump((0...5000).to_a))
          assert_equal "only the first 1000 parts are shown", note
          assert_match(/\A\[0, 1, .*, 998, \.\.\.\z/, text)
          deep = (1..500).reduce([]) { |inner, _| [inner] }
          assert_equal "more than 30 levels are not shown", shown(Marshal.dump(deep)).last
          text, note = shown(Marshal.dump("x" * 1_000_000))
          assert_nil note
          assert_equal "\"#{"x" * 4000}\"... (1000000 bytes)", text
          text, = shown(Marshal.dump(Array.new(300) { |i| i.to_s * 1000 }))
          assert_operator text.size, :<, 60_000
        end

        HOSTILE = {
          "[\x04\xFF\xFF\xFF\x7F" => /2147483647 follow, and 0 bytes are left/, "[\xFA" => /-1 follow/,
          "[\xFF\x00" => /-256 follow/, "\"\x03\xFF\xFF\xFF" => /follow/, "@\x06" => /object 1 did not come before/,
          "@\xFA" => /did not come before/, ";\x00" => /symbol 0 did not come before/,
          "o\"\x06a\x00" => /a name is missing/,
          "\x99" => /unknown type/, "" => /it ends here/, "l+\x02\xFF\xFF" => /follow/, "I" => /it ends here/,
          "#{"I" * 5000}0" => /levels/, "#{"[\x06" * 5000}0" => /levels/, "#{"e:\x06A" * 5000}0" => /levels|name/
        }.freeze

        test "a line says where hostile bytes are wrong" do
          HOSTILE.each do |bytes, message|
            assert_match message, shown("\x04\b".b + bytes.b).last.to_s, bytes.inspect
          end
          assert_equal "damaged at byte 2: not Marshal 4.8", shown("\x04\tx".b).last
        end

        test "any bytes end in a tree of limited size" do
          random = Random.new(48)
          seeds = [Knot.new, Point.new(1, [2.5, "x"]), SHOWN.keys - [nil], { a: { b: [Time.now, /x/, 2**70] } },
                   Text.new("t")].map { |value| Marshal.dump(value) }
          4000.times do
            bytes = random.rand(4).zero? ? "\x04\b".b + random.bytes(random.rand(80)) : seeds.sample(random: random).dup
            random.rand(6).times { bytes.setbyte(random.rand(2..bytes.bytesize) - 1, random.rand(256)) }
            bytes = bytes.byteslice(0, random.rand(2..bytes.bytesize)) if random.rand(3).zero?
            text, note = shown(bytes)
            assert_operator text.size, :<, 200_000
            assert_predicate text, :valid_encoding?
            assert_match(/\A(damaged at byte \d+: |only the first|more than)/, note) if note
          end
        end
      end
    end
  end
end
