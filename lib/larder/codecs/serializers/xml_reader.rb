# frozen_string_literal: true

# Makes values from XML that Larder::Serializers::Xml wrote, with the events of Ox's parser. Other XML is unreadable.

module Larder
  module Serializers
    # One reading: a stack of open elements.
    # @api private
    class XmlReader
      # kind: the letter; key: in a Hash; value: the items so far of a list or Hash, the text of others; texts: names of
      # attributes that are Strings but look like numbers
      Open = Struct.new(:kind, :key, :value, :texts)

      LETTERS = {
        "s" => "s", "l" => "l", "r" => "h", "i" => "i", "f" => "f", "t" => "t", "x" => "x", "n" => "n"
      }.freeze
      WHOLE = /\A-?(?:0|[1-9]\d{0,17})\z/
      OPTIONS = { convert_special: true, symbolize: false, skip: :skip_none }.freeze
      private_constant :Open, :LETTERS, :WHOLE, :OPTIONS

      # @return [Object]
      # @raise [Larder::UnreadableError]
      def self.read(text, max_depth)
        reader = new(max_depth)
        Ox.sax_parse(reader, StringIO.new(text), **OPTIONS)
        reader.result
      end

      def initialize(max_depth)
        @max_depth = max_depth
        @stack = []
        @result = nil
      end

      # @return [Object] the one value
      def result
        raise UnreadableError, "truncated (elements are open)" unless @result && @stack.empty?

        @result.first
      end

      # @!group events of Ox

      def start_element(name)
        # The innermost list has elements, too.
        raise UnreadableError, "too deep (more than #{@max_depth})" if @stack.size > @max_depth
        raise UnreadableError, "damaged (two values)" if @result

        parent = @stack.last
        @stack << if parent && parent.kind == "h"
                    Open.new(nil, name, nil)
                  else
                    Open.new(LETTERS.fetch(name) { raise UnreadableError, "foreign (an element #{name[0, 20]})" })
                  end
      end

      def attr(name, value)
        open = @stack.last
        if name == "t" && open.kind.nil? then open.kind = value
        elsif name == "k" && open.key == "_" then open.key = value
        elsif open.kind == "h" then id(open, name, value)
        else raise UnreadableError, "foreign (an attribute #{name[0, 20]})"
        end
      end

      def attrs_done
        open = @stack.last
        open.kind ||= "s"
        number_ids(open) if open.value
        open.value ||= container(open.kind)
      end

      def text(text)
        return if text.empty?

        open = @stack.last
        raise UnreadableError, "foreign (text between elements)" unless open && open.value.is_a?(String)

        open.value << text
      end

      def end_element(_name)
        open = @stack.pop
        value = closed(open)
        parent = @stack.last
        if parent.nil? then @result = [value]
        elsif parent.kind == "h" then parent.value[open.key] = value
        else parent.value << value
        end
      end

      def error(message, _line, _column)
        raise UnreadableError, "damaged (#{message})"
      end

      # @!endgroup

      private

      # The id of a record: text until all attributes were read, because `id.t` marks it as a String.
      def id(open, name, value)
        open.value ||= {}
        told = name.delete_suffix(".t")
        if told != name && open.value.key?(told) then (open.texts ||= []) << told
        else open.value[name] = value
        end
      end

      def number_ids(open)
        open.value.each_pair do |name, text|
          open.value[name] = Integer(text, 10) if text.match?(WHOLE) && !open.texts&.include?(name)
        end
      end

      def container(kind)
        case kind
        when "l" then []
        when "h" then {}
        else +""
        end
      end

      def closed(open)
        case open.kind
        when "s", "l", "h" then open.value
        when "i" then Integer(open.value, 10)
        when "f" then Float(open.value)
        else empty(open)
        end
      end

      def empty(open)
        raise UnreadableError, "damaged (text in an empty element)" unless open.value.empty?

        { "t" => true, "x" => false, "n" => nil }.fetch(open.kind) do
          raise UnreadableError, "foreign (a type #{open.kind[0, 9]})"
        end
      end
    end
  end
end
