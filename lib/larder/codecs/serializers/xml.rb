# frozen_string_literal: true

# XML, read with the gem ox, the fastest of Ruby's parsers, event by event.
#
#   <r id="1"><name>Pear</name><price t="f">1.5</price><tags t="l"><s>red</s></tags></r>
#
# An element is a value. In a Hash its name is the key (`_` with k="…" if the key cannot be a name), and `t` is its
# type: none a String, l a list, h a Hash, i and f numbers, t true, n nil, x false. In a list, the name is the type: s
# (a String), l, r (a Hash), i, f, t, n, x. With shape: :attribute the "id" of a Hash in a list is an attribute, with
# shape: :child it is an element like the others.

require "larder/larder"

module Larder
  module Serializers
    # The same values as json, in more bytes.
    class Xml
      RUNS_CODE = false
      MAKES_OBJECTS = false
      SHAPES = %i[attribute child].freeze
      MAX_DEPTH = 100
      ID = /\Aid\z/i
      NAME = /\A(?!xml)[A-Za-z][A-Za-z0-9_.-]*\z/i
      WHOLE = /\A-?(?:0|[1-9]\d{0,17})\z/
      FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/
      ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", "\"" => "&quot;", "\r" => "&#13;", "\n" => "&#10;",
                  "\t" => "&#9;" }.freeze
      private_constant :MAX_DEPTH, :ID, :NAME, :WHOLE, :FORBIDDEN, :ESCAPES

      # @param shape [Symbol] :attribute or :child: where the id of a record in a list goes
      # @param max_depth [Integer] lists and Hashes in each other that are written and read
      def initialize(shape: :attribute, max_depth: MAX_DEPTH)
        Codecs::OptionalGems.need("ox", gem: "ox", who: "serializer :xml")
        unless SHAPES.include?(shape)
          raise ::ArgumentError, "shape: of serializer :xml is #{shape.inspect}; it takes :attribute or :child"
        end

        @id_as_attribute = shape == :attribute
        @max_depth = max_depth
      end

      # @return [String]
      # @raise [Larder::UnserializableError] as json; also of characters that XML does not have
      def dump(value)
        offender = JsonCheck.offender(value, @max_depth)
        refuse(offender.first) if offender

        out = String.new(capacity: 256, encoding: Encoding::UTF_8)
        item(out, value)
        out
      end

      # @return [Object]
      # @raise [Larder::UnreadableError]
      def load(payload)
        text = payload.force_encoding(Encoding::UTF_8)
        raise UnreadableError, "damaged (no UTF-8)" unless text.valid_encoding?
        # Larder writes neither a document type, with its entities, nor a comment.
        raise UnreadableError, "foreign (XML with declarations)" if text.include?("<!") || text.include?("<?")

        XmlReader.read(text, @max_depth)
      end

      private

      def refuse(offender)
        raise UnserializableError, "xml cannot bring back #{UnserializableError.kind_of(offender)}; :native, " \
                                   ":message_pack and :marshal can"
      end

      # An element in a list or at the top.
      def item(out, value)
        case value
        when String then out << "<s>" << escaped(value) << "</s>"
        when Array then list(out, "l", "", value)
        when Hash then record(out, value)
        else scalar(out, letter(value), "", value)
        end
      end

      def record(out, hash)
        out << "<r"
        hash.each_pair { |key, value| id_attribute(out, key, value) } if @id_as_attribute
        out << ">"
        hash.each_pair { |key, value| member(out, key, value) unless @id_as_attribute && id?(key, value) }
        out << "</r>"
      end

      def id?(key, value)
        key.match?(ID) && (value.is_a?(String) || (value.is_a?(Integer) && value.to_s.match?(WHOLE)))
      end

      # A String of digits is marked as a String.
      def id_attribute(out, key, value)
        return unless id?(key, value)

        out << " " << key << "=\"" << escaped(value.to_s) << "\""
        out << " " << key << ".t=\"s\"" if value.is_a?(String) && value.match?(WHOLE)
      end

      # An element in a Hash.
      def member(out, key, value)
        name, attribute = key.match?(NAME) ? [key, ""] : ["_", " k=\"#{escaped(key)}\""]
        case value
        when String then out << "<" << name << attribute << ">" << escaped(value) << "</" << name << ">"
        when Array then list(out, name, "#{attribute} t=\"l\"", value)
        when Hash
          out << "<" << name << attribute << " t=\"h\">"
          value.each_pair { |inner, inner_value| member(out, inner, inner_value) }
          out << "</" << name << ">"
        else scalar(out, name, "#{attribute} t=\"#{letter(value)}\"", value)
        end
      end

      def list(out, name, attributes, values)
        out << "<" << name << attributes << ">"
        values.each { |value| item(out, value) }
        out << "</" << name << ">"
      end

      def scalar(out, name, attributes, value)
        out << "<" << name << attributes
        case value
        when Integer, Float then out << ">" << value.to_s << "</" << name << ">"
        else out << "/>"
        end
      end

      def letter(value)
        case value
        when Integer then "i"
        when Float then "f"
        when true then "t"
        when false then "x"
        else "n"
        end
      end

      def escaped(text)
        refuse(text) if text.match?(FORBIDDEN)

        text.match?(/[&<>"\r\n\t]/) ? text.gsub(/[&<>"\r\n\t]/, ESCAPES) : text
      end
    end
  end
end

require "larder/codecs/serializers/xml_reader"
