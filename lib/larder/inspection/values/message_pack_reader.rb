# frozen_string_literal: true

# Shows bytes of MessagePack, also as ActiveSupport extends it, without making objects.

require_relative "input"

module Larder
  module Inspection
    module Values
      # The format is that of msgpack.org. Extension types are those of ActiveSupport; their contents are MessagePack,
      # too.
      class MessagePackReader
        # ActiveSupport's signature.
        SIGNATURE = "\xCC\x80".b.freeze
        SYMBOL = 0
        NAMES = %w[Symbol Integer BigDecimal Rational Complex DateTime Date Time ActiveSupport::TimeWithZone
                   ActiveSupport::TimeZone ActiveSupport::Duration Range Set URI IPAddr Pathname Regexp
                   ActiveSupport::HashWithIndifferentAccess].freeze
        # Those whose contents are bytes.
        TEXTS = [1, 2, 9, 13, 15, 16].freeze
        NUMBERS = { 0xCA => [4, "g"], 0xCB => [8, "G"], 0xCC => [1, "C"], 0xCD => [2, "n"], 0xCE => [4, "N"],
                    0xCF => [8, "Q>"], 0xD0 => [1, "c"], 0xD1 => [2, "s>"], 0xD2 => [4, "l>"],
                    0xD3 => [8, "q>"] }.freeze
        LENGTHS = { 1 => "C", 2 => "n", 4 => "N" }.freeze
        SIMPLE = { 0xC0 => ["nil", nil], 0xC2 => ["false", false], 0xC3 => ["true", true] }.freeze
        private_constant :SYMBOL, :NAMES, :TEXTS, :NUMBERS, :LENGTHS, :SIMPLE

        # @param input [Input]
        def initialize(input)
          @input = input
        end

        # @param group [Group] that gets the value
        # @return [void]
        # @raise [Cut, Damaged]
        def read(group)
          value(group)
        end

        private

        def value(group, label = "")
          @input.part
          case tag = @input.byte
          when 0x00..0x7F then leaf(group, label, tag)
          when 0xE0..0xFF then leaf(group, label, tag - 256)
          when 0x80..0x8F then hash(group, label, tag & 15)
          when 0x90..0x9F then array(group, label, tag & 15)
          when 0xA0..0xBF then text(group, label, tag & 31)
          when 0xC0, 0xC2, 0xC3 then group.add(Leaf.new(*SIMPLE[tag]), label)
          when 0xCA..0xD3 then number(group, label, *NUMBERS[tag])
          else long(group, label, tag)
          end
        end

        def long(group, label, tag)
          case tag
          when 0xC4..0xC6 then text(group, label, length(1 << (tag - 0xC4)), Encoding::BINARY)
          when 0xC7..0xC9 then extension(group, label, length(1 << (tag - 0xC7)))
          when 0xD4..0xD8 then extension(group, label, 1 << (tag - 0xD4))
          when 0xD9..0xDB then text(group, label, length(1 << (tag - 0xD9)))
          when 0xDC, 0xDD then array(group, label, length(2 << (tag - 0xDC)))
          when 0xDE, 0xDF then hash(group, label, length(2 << (tag - 0xDE)))
          else @input.damaged("unknown type #{tag}")
          end
        end

        def length(bytes)
          @input.take(bytes).unpack1(LENGTHS.fetch(bytes))
        end

        def leaf(group, label, number)
          group.add(Leaf.new(number.to_s, number), label)
        end

        def number(group, label, bytes, format)
          leaf(group, label, @input.take(bytes).unpack1(format))
        end

        def text(group, label, size, encoding = Encoding::UTF_8)
          group.add(Input.text(@input.beginning(size), size, encoding), label)
        end

        def array(group, label, count)
          @input.check(count)
          made = group.add(Group.new("[", "]"), label)
          @input.deeper { count.times { value(made) } }
        end

        def hash(group, label, count)
          @input.check(count)
          made = group.add(Group.new("{", "}"), label)
          @input.deeper do
            count.times do
              key = Group.new("", "")
              value(key)
              value(made, Input.key_label(key.parts.first.last))
            end
          end
        end

        def extension(group, label, size)
          type = @input.byte
          @input.check(size)
          return group.add(Input.symbol(@input.beginning(size)), label) if type == SYMBOL

          made = group.add(Group.new("#<#{NAMES[type] || "extension #{type}"} ", ">"), label)
          return text(made, "", size, type == 1 ? Encoding::BINARY : Encoding::UTF_8) if TEXTS.include?(type)
          return text(made, "", size, Encoding::BINARY) unless NAMES[type] || type == 127

          rest = @input.left - size
          @input.deeper { value(made) while @input.left > rest }
        end
      end
    end
  end
end
