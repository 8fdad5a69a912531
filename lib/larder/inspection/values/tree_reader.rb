# frozen_string_literal: true

# Shows bytes of Larder's own format (ext/larder/value/tree_format.h) without making objects.

require_relative "input"

module Larder
  module Inspection
    module Values
      # The tags are part of the format and never change.
      class TreeReader
        SIMPLE = { 0xA0 => ["nil", nil], 0xA1 => ["false", false], 0xA2 => ["true", true] }.freeze
        TEXTS = { 0xA8 => Encoding::UTF_8, 0xA9 => Encoding::BINARY, 0xAA => Encoding::US_ASCII }.freeze
        # Names of the classes of objects, by their codes.
        NAMES = { Tree::TIME => "Time", Tree::TIME_WITH_ZONE => "ActiveSupport::TimeWithZone", Tree::DATE => "Date",
                  Tree::DATE_TIME => "DateTime", Tree::DECIMAL => "BigDecimal", Tree::RATIONAL => "Rational",
                  Tree::COMPLEX => "Complex", Tree::INTEGER => "Integer in hexadecimal", Tree::RANGE => "Range",
                  Tree::SET => "Set", Tree::SAFE_BUFFER => "ActiveSupport::SafeBuffer",
                  Tree::INDIFFERENT_HASH => "ActiveSupport::HashWithIndifferentAccess",
                  Tree::DURATION => "ActiveSupport::Duration", Tree::STRUCT => "Struct", Tree::DATA => "Data",
                  Tree::RECORD => "record", Tree::BINARY => "ActiveModel::Type::Binary::Data", Tree::URI => "URI",
                  Tree::IP_ADDRESS => "IPAddr", Tree::PATH => "Pathname", Tree::TIME_ZONE => "ActiveSupport::TimeZone",
                  Tree::TEXT => "String", Tree::RECORDS => "records", Tree::STRUCTS => "Structs",
                  Tree::KEPT => "object of a declared class" }.freeze
        # Seconds and nanoseconds of a time that is shown as one.
        SECONDS = (-(2**40)..(2**40))
        NANOSECONDS = (0...1_000_000_000)
        private_constant :SIMPLE, :TEXTS, :NAMES, :SECONDS, :NANOSECONDS

        # @param input [Input]
        def initialize(input)
          @input = input
          @symbols = []
          @shapes = []
          @ended = nil
        end

        # @param group [Group] that gets the value
        # @return [void]
        # @raise [Cut, Damaged]
        def read(group)
          if @input.peek == 0xB2
            @input.byte
            @ended = []
          end
          value(group)
        end

        private

        def value(group, label = "")
          @input.part
          case tag = @input.byte
          when 0x00..0x7F then leaf(group, label, tag)
          when 0xE0..0xFF then leaf(group, label, tag - 256)
          when 0x80..0x9F then text(group, label, tag & 31)
          when 0xA0..0xA2 then group.add(Leaf.new(*SIMPLE[tag]), label)
          when 0xA3..0xA6 then leaf(group, label, integer(1 << (tag - 0xA3)))
          when 0xA7 then leaf(group, label, @input.take(8).unpack1("E"))
          when 0xA8..0xAA then text(group, label, @input.leb128, TEXTS[tag])
          when 0xAB, 0xAC then symbol(group, label, tag)
          when 0xB3 then again(group, label)
          else nested(group, label, tag)
          end
        end

        def leaf(group, label, number)
          group.add(Leaf.new(number.to_s, number), label)
        end

        def integer(bytes)
          @input.take(bytes).unpack1({ 1 => "c", 2 => "s<", 4 => "l<", 8 => "q<" }.fetch(bytes))
        end

        def text(group, label, size, encoding = Encoding::UTF_8)
          group.add(Input.text(@input.beginning(size), size, encoding), label)
        end

        def symbol(group, label, tag)
          name = if tag == 0xAB
                   @input.beginning(@input.leb128).tap { |new| @symbols << new }
                 else
                   @symbols[@input.leb128] || @input.damaged("this symbol did not come before")
                 end
          group.add(Input.symbol(name), label)
        end

        def again(group, label)
          known = @ended && @ended[@input.leb128]
          @input.damaged("this object did not come before") unless known
          group.add(Leaf.new(known.is_a?(Group) ? known.again : known.inline), label)
        end

        def nested(group, label, tag)
          @input.deeper do
            case tag
            when 0xAD then array(group, label)
            when 0xAE then hash(group, label)
            when 0xAF then shaped(group, label, new_shape)
            when 0xB0 then shaped(group, label, @shapes[@input.leb128])
            when 0xC0..0xDF then shaped(group, label, @shapes[tag & 31])
            when 0xB1 then object(group, label)
            else @input.damaged("unknown tag #{tag}")
            end
          end
          @ended << group.parts.last.last if @ended
        end

        def array(group, label)
          count = @input.check(@input.leb128)
          made = group.add(Group.new("[", "]"), label)
          count.times { value(made) }
        end

        def hash(group, label)
          count = @input.check(@input.leb128)
          made = group.add(Group.new("{", "}"), label)
          count.times { value(made, key) }
        end

        # @return [String] the label of a key
        def key
          key = Group.new("", "")
          value(key)
          Input.key_label(key.parts.first.last)
        end

        def new_shape
          count = @input.check(@input.leb128)
          Array.new(count) { key }.tap { |keys| @shapes << keys }
        end

        def shaped(group, label, keys)
          @input.damaged("this shape did not come before") unless keys
          made = group.add(Group.new("{", "}"), label)
          keys.each { |name| value(made, name) }
        end

        def object(group, label)
          code = @input.byte
          name = NAMES[code] or @input.damaged("unknown class #{code}")
          made = group.add(Group.new("#<#{name} ", ">"), label)
          value(made)
          simple = simple_object(code, made.parts.last.last)
          group.replace_last(simple) if simple
        end

        # @return [Leaf, Group, nil] nil: it is shown with its parts
        def simple_object(code, parts)
          return unless parts.is_a?(Group)

          case code
          when Tree::TIME, Tree::TIME_WITH_ZONE then time(*parts.values)
          when Tree::INTEGER then integer_of(*parts.values)
          when Tree::SET then renamed(parts.parts.first&.last, "Set[", "]")
          when Tree::INDIFFERENT_HASH then pairs(*parts.parts.map(&:last))
          end
        end

        def time(seconds = nil, nanoseconds = nil, *rest)
          return unless [seconds, nanoseconds].all?(Integer)
          return unless SECONDS.cover?(seconds) && NANOSECONDS.cover?(nanoseconds)

          zone = rest.grep(String).last.to_s
          text = Time.at(seconds, nanoseconds, :nsec).utc.strftime("%Y-%m-%d %H:%M:%S.%9N UTC")
          Leaf.new("#<Time #{text}#{" (#{Input.name(zone)})" unless ["", "UTC"].include?(zone)}>")
        end

        def integer_of(text = nil, *)
          Leaf.new(text.to_i(16).to_s) if text.is_a?(String) && text.b.match?(/\A-?\h{1,300}\z/)
        end

        def renamed(list, opening, closing)
          return unless list.is_a?(Group)

          list.parts.each_with_object(Group.new(opening, closing)) { |(label, node), made| made.add(node, label) }
        end

        def pairs(keys = nil, values = nil, *)
          return unless [keys, values].all?(Group) && keys.parts.size == values.parts.size

          made = Group.new("#<ActiveSupport::HashWithIndifferentAccess ", ">")
          keys.parts.zip(values.parts) { |(_, key), (_, value)| made.add(value, Input.key_label(key)) }
          made
        end
      end
    end
  end
end
