# frozen_string_literal: true

# Shows the structure of bytes of Marshal (format 4.8) without loading them: no object is made, no class is looked up,
# no method of the application is called.

require_relative "input"
require_relative "marshal_time"

module Larder
  module Inspection
    module Values
      # Reads the format that Ruby's marshal.c writes. Each type is a byte; objects have numbers in the order in which
      # they begin, and a link names one that came before.
      class MarshalReader
        VERSION = "\x04\x08".b.freeze
        # A bignum of more bytes is not computed.
        LONGEST_INTEGER = 1000
        # Labels of the variables that name a String's encoding.
        ENCODING = ["E=", "encoding="].freeze
        TYPES = {
          "0" => :nil_value, "T" => :true_value, "F" => :false_value, "i" => :fixnum, ":" => :symbol, ";" => :symbol,
          '"' => :string, "/" => :regexp, "[" => :array, "{" => :hash, "}" => :hash_with_default, "f" => :float,
          "l" => :bignum, "o" => :object, "S" => :struct, "c" => :named, "m" => :named, "M" => :named,
          "u" => :dumped, "U" => :made_of, "d" => :made_of, "C" => :made_of_itself, "e" => :made_of_itself,
          "@" => :link, "I" => :with_variables
        }.transform_keys(&:ord).freeze
        private_constant :LONGEST_INTEGER, :ENCODING, :TYPES

        # @param input [Input]
        def initialize(input)
          @input = input
          @symbols = []
          @objects = []
        end

        # @param group [Group] that gets the value
        # @return [void]
        # @raise [Cut, Damaged]
        def read(group)
          @input.damaged("not Marshal 4.8") unless @input.take(2) == VERSION
          value(group)
        end

        private

        def value(group, label = "", variables: false)
          @input.part
          method = TYPES[type = @input.byte] or @input.damaged("unknown type #{type.chr.inspect}")
          @input.deeper { __send__(method, group, label, type, variables) }
        end

        # ---- numbers and names ----

        # One byte for small numbers, else how many bytes follow.
        def long
          first = @input.byte
          first -= 256 if first > 127
          return first.zero? ? 0 : first - (first <=> 0) * 5 if first.zero? || first.abs > 4

          number = @input.take(first.abs).each_byte.with_index.sum { |byte, i| byte << (8 * i) }
          first.positive? ? number : number - (1 << (8 * -first))
        end

        def size
          @input.check(long)
        end

        # @return [String] of a symbol, or of one that came before
        def name
          type = @input.byte
          type = @input.byte if (with_variables = type == "I".ord)
          case type.chr
          when ":" then read_symbol(with_variables)
          when ";" then symbol_again
          else @input.damaged("a name is missing")
          end
        end

        def read_symbol(with_variables)
          @symbols << (name = @input.beginning(size))
          variables if with_variables
          name
        end

        def symbol_again
          number = long
          known = @symbols[number] if number >= 0
          known || @input.damaged("symbol #{number} did not come before")
        end

        def class_name
          Input.name(name)
        end

        # @return [Integer] the place of a new object
        def enter
          @objects << nil
          @objects.size - 1
        end

        def leaf(group, label, text, value = nil)
          group.add(Leaf.new(text, value), label)
        end

        # Adds a group for an object, which is known from now on.
        def begin_object(group, label, opening, closing)
          made = Group.new(opening, closing)
          @objects[enter] = made
          group.add(made, label)
        end

        # ---- types ----

        def nil_value(group, label, *)
          leaf(group, label, "nil")
        end

        def true_value(group, label, *)
          leaf(group, label, "true", true)
        end

        def false_value(group, label, *)
          leaf(group, label, "false", false)
        end

        def fixnum(group, label, *)
          number = long
          leaf(group, label, number.to_s, number)
        end

        def symbol(group, label, type, variables)
          name = type == ":".ord ? read_symbol(variables) : symbol_again
          group.add(Input.symbol(name), label)
        end

        def float(group, label, *)
          number = enter
          text = @input.take(size)[/\A[-+.\da-z]{1,40}/].to_s
          @objects[number] = leaf(group, label, text)
        end

        def bignum(group, label, *)
          number = enter
          sign = @input.byte
          bytes = @input.take(@input.check(long * 2))
          text = bytes.bytesize > LONGEST_INTEGER ? "#<an Integer of #{bytes.bytesize} bytes>" : integer(bytes)
          @objects[number] = leaf(group, label, "#{"-" if sign == "-".ord}#{text}")
        end

        def integer(bytes)
          bytes.reverse.unpack1("H*").to_i(16).to_s
        end

        def string(group, label, _type, variables)
          number = enter
          length = size
          bytes = @input.beginning(length)
          more = variables ? self.variables : Group.new("", "")
          text = Input.text(bytes, length, encoding_of(more))
          @objects[number] = own(group, label, "#<String ", text, more)
        end

        def regexp(group, label, _type, variables)
          number = enter
          bytes = @input.beginning(size)
          options = @input.byte
          more = variables ? self.variables : Group.new("", "")
          flags = { 4 => "m", 1 => "i", 2 => "x" }.filter_map { |bit, flag| flag if options & bit > 0 }.join
          text = Leaf.new("/#{Input.literal(bytes.force_encoding(encoding_of(more)))[1...-1]}/#{flags}")
          @objects[number] = own(group, label, "#<Regexp ", text, more)
        end

        def array(group, label, *)
          count = size
          made = begin_object(group, label, "[", "]")
          count.times { value(made) }
          made
        end

        def hash(group, label, *)
          count = size
          made = begin_object(group, label, "{", "}")
          count.times { pair(made) }
          made
        end

        def hash_with_default(group, label, *)
          made = hash(group, label)
          value(made, "(default) ")
          made
        end

        def pair(made)
          key = Group.new("", "")
          value(key)
          value(made, Input.key_label(key.parts.first.last))
        end

        def object(group, label, *)
          made = begin_object(group, label, "#<#{class_name} ", ">")
          size.times { value(made, "#{Input.name(name)}=") }
          made
        end

        def struct(group, label, *)
          made = begin_object(group, label, "#<struct #{class_name} ", ">")
          size.times { value(made, "#{Input.name(name)}=") }
          made
        end

        # A class or module.
        def named(group, label, *)
          number = enter
          @objects[number] = leaf(group, label, Input.name(@input.beginning(size)))
        end

        # An object whose class wrote bytes of its own (_dump).
        def dumped(group, label, _type, variables)
          name = class_name
          length = size
          bytes = @input.beginning(length)
          made = Group.new("#<#{name} ", ">")
          made.add(MarshalTime.leaf(name, bytes) || Input.text(bytes, length, Encoding::BINARY))
          time_variables(made) if variables
          @objects[enter] = made
          group.add(made, label)
        end

        # Without those that only add nanoseconds to a Time.
        def time_variables(made)
          variables(made).parts.reject! { |label, _| MarshalTime::FRACTIONS.include?(label) }
        end

        # An object whose class gave another value (marshal_dump).
        def made_of(group, label, *)
          made = begin_object(group, label, "#<#{class_name} ", ">")
          value(made)
          made
        end

        # A String, Array, Hash or Regexp of a subclass, or an object that was extended by a module.
        def made_of_itself(group, label, _type, variables)
          made = group.add(Group.new("#<#{class_name} ", ">"), label)
          value(made, variables: variables)
          made
        end

        def link(group, label, *)
          number = long
          known = @objects[number] if number >= 0
          @input.damaged("object #{number} did not come before") unless known
          again = known.is_a?(Group) ? known.again : known.inline
          leaf(group, label, again, (known.value if known.is_a?(Leaf)))
        end

        def with_variables(group, label, *)
          type = @input.peek
          made = value(group, label, variables: true)
          variables(made) if ["[", "{", "}", "c", "m", "f", "l", "o", "S"].include?(type&.chr) && made.is_a?(Group)
          made
        end

        # ---- instance variables ----

        # @param made [Group] that gets them
        def variables(made = Group.new("", ""))
          size.times do
            label = Input.name(name)
            value(made, "#{label}=")
          end
          made
        end

        def encoding_of(more)
          known = more.parts.map(&:first).zip(more.values).to_h
          return Encoding::UTF_8 if known["E="]
          return Encoding::US_ASCII if known.key?("E=")

          name = known["encoding="].to_s
          # "internal" is a name, and nil where Ruby has no internal encoding.
          (Encoding.find(name) if Encoding.name_list.include?(name)) || Encoding::BINARY
        end

        # The text itself if it has no variables but its encoding.
        def own(group, label, opening, text, more)
          rest = more.parts.reject { |part| ENCODING.include?(part.first) }
          return group.add(text, label) if rest.empty?

          made = group.add(Group.new(opening, ">"), label)
          made.add(text)
          rest.each { |name, node| made.add(node, name) }
          made
        end
      end
    end
  end
end
