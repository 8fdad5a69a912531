# frozen_string_literal: true

require "test_helper"
require "active_support"
require "active_support/message_pack"
require "set"
require "larder/inspection"

module Larder
  module Inspection
    module Values
      # MessagePack with the types of ActiveSupport, as text.
      class MessagePackReaderTest < ActiveSupport::TestCase
        def shown(bytes)
          input = Input.new(bytes)
          group = Group.new("", "")
          note = input.read_into(group) { MessagePackReader.new(input).read(group) }
          [group.parts.map { |_, node| node.inline }.join, note]
        end

        def packed(value)
          ActiveSupport::MessagePack.dump(value).delete_prefix(MessagePackReader::SIGNATURE)
        end

        test "values are shown as Ruby writes them" do
          { [1, -1, -33, 200, 70_000, -70_000, 2**40, 1.5, nil, true, false] =>
              "[1, -1, -33, 200, 70000, -70000, 1099511627776, 1.5, nil, true, false]",
            { a: "größe", "b" => ["\xFF".b, "x" * 300] } => "{a: \"größe\", \"b\" => [\"\\xFF\", \"#{"x" * 300}\"]}",
            (1..20).to_a => (1..20).to_a.inspect, [Set[1], 1..2, Pathname("/a")] =>
              "[#<Set [1]>, #<Range 1, 2, false>, #<Pathname \"/a\">]" }.each do |value, text|
            assert_equal [text, nil], shown(packed(value))
          end
        end

        test "a line says where damaged bytes are wrong" do
          { "" => /byte 0: it ends here/, "\xDD\xFF\xFF\xFF\xFF" => /4294967295 follow, and 0 bytes are left/,
            "\xC1" => /unknown type 193/, "\xDB\x7F\xFF\xFF\xFF" => /bytes are left/,
            "\x91" * 5000 => /levels/, "\xC7\xFF\x0Ca" => /255 follow/ }.each do |bytes, message|
            assert_match message, shown(bytes.b).last.to_s, bytes.inspect
          end
        end

        test "any bytes end in a tree of limited size" do
          random = Random.new(50)
          seed = packed([{ a: [1, "x" * 40, Set[1, 2]], b: 2.5 }, 1..2, Time.now])
          4000.times do
            bytes = random.rand(4).zero? ? random.bytes(random.rand(80)) : seed.dup
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
