# frozen_string_literal: true

# Finds out how a value is encoded, and shows it: plain values, entries of Rails, frames of Larder's codecs. Nothing
# that is stored is loaded: no object is made, and no code of the application runs.

require "zlib"
require_relative "../../codecs/compressors"
require_relative "marshal_reader"
require_relative "message_pack_reader"
require_relative "tree_reader"

module Larder
  module Inspection
    # Shows values of a cache without loading them.
    module Values
      # The parts of a value that are shown. `encoding` is a list of layers from the outside, `note` says why something
      # is left out, `version` is that of the entry, `bytes` is the value without its version.
      View = Struct.new(:encoding, :node, :note, :version, :bytes)

      # Makes a {View} of an item's flags (ext/larder/value/plain.h) and bytes.
      class Decoder
        KINDS = %i[other utf8 binary us_ascii integer float nil true false symbol tree versioned ascii].freeze
        ENCODINGS = { utf8: Encoding::UTF_8, ascii: Encoding::UTF_8, us_ascii: Encoding::US_ASCII,
                      binary: Encoding::BINARY }.freeze
        # Bytes of a value that is shown as bytes.
        MOST_BYTES = 256
        # Layers in layers: a signed entry of a frame of compressed bytes has four.
        MOST_LAYERS = 6
        RAILS = "\x00\x11".b.freeze
        RAILS_HEADER = 15
        RAILS_COMPRESSED = 0x80
        RAILS_TEXTS = { 2 => Encoding::UTF_8, 3 => Encoding::BINARY, 4 => Encoding::US_ASCII }.freeze
        private_constant :KINDS, :ENCODINGS, :MOST_BYTES, :MOST_LAYERS, :RAILS, :RAILS_HEADER, :RAILS_COMPRESSED,
                         :RAILS_TEXTS

        # @param item [Cache::Item]
        # @param bytes [String] its value
        def initialize(item, bytes)
          @item = item
          @view = View.new([], nil, nil, nil, bytes)
        end

        # @return [View]
        def view
          plain(KINDS[@item.flags & 15], @view.bytes)
          @view
        end

        private

        def plain(kind, bytes)
          case kind
          when :other then @item.counter ? simple("counter", bytes) : encoded(bytes)
          when :versioned then versioned(bytes)
          when :tree then tree(bytes, "Larder's own format")
          when :integer, :float then number(kind, bytes)
          when :nil, :true, :false then simple("plain value", kind.to_s) # rubocop:disable Lint/BooleanSymbol
          when :symbol then shown("plain Symbol", Input.symbol(Input.new(bytes).beginning(bytes.bytesize)))
          when nil then hexadecimal(bytes, "unknown (flags #{@item.flags})")
          else text(bytes, ENCODINGS[kind], "plain String (#{ENCODINGS[kind]})")
          end
        end

        def layer(name)
          @view.encoding << name
        end

        def shown(name, node)
          layer(name)
          @view.node = node
        end

        def simple(name, text)
          shown(name, Leaf.new(text))
        end

        def number(kind, bytes)
          return hexadecimal(bytes, "damaged #{kind}") unless bytes.bytesize == 8

          simple("plain #{kind.capitalize}", bytes.unpack1(kind == :integer ? "q<" : "E").to_s)
        end

        # The version, its length and the value's kind are behind the value.
        def versioned(bytes)
          size = bytes.bytesize - 3 - bytes.byteslice(-3, 2).to_s.unpack1("v").to_i
          return hexadecimal(bytes, "damaged entry with a version") if bytes.bytesize < 3 || size.negative?

          kind = KINDS[bytes.getbyte(-1)]
          return hexadecimal(bytes, "damaged entry with a version") if [:versioned, nil].include?(kind)

          @view.version = bytes.byteslice(size...-3)
          @view.bytes = bytes.byteslice(0, size)
          plain(kind, @view.bytes)
        end

        def text(bytes, encoding, name)
          input = Input.new(bytes)
          input.part
          shown(name, Input.text(input.beginning(bytes.bytesize), bytes.bytesize, encoding))
        end

        def foreign_text(bytes, name)
          input = Input.new(bytes)
          input.part
          shown(name, Input.foreign_text(input.beginning(bytes.bytesize), bytes.bytesize))
        end

        def hexadecimal(bytes, name)
          layer(name)
          @view.node = Leaf.new(bytes.byteslice(0, 16).unpack1("H*"), nil, rows(bytes.byteslice(0, MOST_BYTES)))
          @view.note ||= "the first #{MOST_BYTES} of #{bytes.bytesize} bytes" if bytes.bytesize > MOST_BYTES
        end

        def rows(bytes)
          bytes.bytes.each_slice(16).with_index.map do |row, number|
            format("%08x  %-47s  %s", number * 16, row.map { |byte| format("%02x", byte) }.join(" "),
                   row.map { |byte| byte.between?(32, 126) ? byte.chr : "." }.join)
          end
        end

        def by(reader, input, name)
          layer(name)
          holder = Group.new("", "")
          @view.note = input.read_into(holder) { reader.read(holder) }
          @view.node = holder.parts.first&.last
        end

        def tree(bytes, name)
          input = Input.new(bytes)
          by(TreeReader.new(input), input, name)
        end

        # ---- bytes of a coder, or of a program that stores bytes ----

        def encoded(bytes)
          return hexadecimal(bytes, "too many layers") if @view.encoding.size >= MOST_LAYERS

          if bytes.start_with?(RAILS) && bytes.bytesize >= RAILS_HEADER then rails_entry(bytes)
          elsif Codecs::Frame.value?(bytes) then frame(bytes)
          elsif bytes.start_with?(MarshalReader::VERSION) then marshal(bytes)
          elsif bytes.start_with?(MessagePackReader::SIGNATURE) then message_pack(bytes.byteslice(2..))
          elsif bytes.start_with?("\x00\x04\x08".b) then rails_seven(bytes.byteslice(1..))
          elsif bytes.start_with?("\x01\x78".b) then rails_seven(bytes.byteslice(1..), compressed: true)
          else unknown(bytes)
          end
        end

        def unknown(bytes)
          text = bytes.dup.force_encoding(Encoding::UTF_8)
          readable = text.valid_encoding? && !text.match?(/[\0-\b\x0E-\x1F]/)
          readable ? text(bytes, Encoding::UTF_8, "bytes of text") : hexadecimal(bytes, "bytes")
        end

        def marshal(bytes)
          input = Input.new(bytes)
          by(MarshalReader.new(input), input, "Marshal (its structure)")
        end

        def message_pack(bytes)
          input = Input.new(bytes)
          by(MessagePackReader.new(input), input, "MessagePack")
        end

        # Type, expiry, version (ActiveSupport's Cache::Coder, from Rails 7.1 on).
        def rails_entry(bytes)
          type, _expires_at, version = bytes.unpack("@2CEl<")
          layer("entry of Rails")
          start = RAILS_HEADER + [version, 0].max
          return hexadecimal(bytes, "damaged: it ends within the version") if start > bytes.bytesize

          @view.version = bytes.byteslice(RAILS_HEADER, version) if version >= 0
          payload = bytes.byteslice(start..)
          payload = decompressed(payload) if type & RAILS_COMPRESSED > 0
          return unless payload

          encoding = RAILS_TEXTS[type & ~RAILS_COMPRESSED]
          encoding ? text(payload, encoding, "String (#{encoding})") : encoded(payload)
        end

        # [value, expiry, version] by Marshal (Rails 7.0).
        def rails_seven(bytes, compressed: false)
          layer("entry of Rails 7.0")
          bytes = decompressed(bytes) if compressed
          marshal(bytes) if bytes
        end

        # @return [String, nil] nil: it could not be decompressed
        def decompressed(bytes)
          layer("compressed (#{compressor_of(bytes)})")
          Compressors.lookup(:gzip, checksum: false).unpack(bytes)
        rescue MissingGemError => error
          cannot(bytes, error.message)
        rescue *OwnFailure::KINDS => error # a library's of strange bytes
          raise unless error.is_a?(UnreadableError) || OwnFailure.again?(error, bytes.bytesize) do
            Compressors.lookup(:gzip, checksum: false).unpack(bytes)
          end

          cannot(bytes, "it cannot be decompressed: #{Input.name(error.message)}")
        end

        def cannot(bytes, reason)
          @view.note = reason
          hexadecimal(bytes, "as it is stored")
          nil
        end

        def compressor_of(bytes)
          return "zlib" unless Codecs::Frame.compressed?(bytes)

          Compressors::REGISTRY.name_of(bytes.getbyte(0) & ~Codecs::Frame::UNCHECKED) || "unknown"
        end

        # A signature cannot be verified here: the application has the secret.
        def frame(bytes)
          tagged = bytes.getbyte(1)
          id = tagged & 0x3F
          signed = tagged & Codecs::Frame::SIGNED > 0
          name = Codecs::Frame::SERIALIZERS.key(id)
          layer("#{"signed " if signed}frame#{" of :#{name}" if name}#{" (signature not verified)" if signed}")
          payload = signed ? bytes.byteslice((2 + Codecs::Frame::SIGNATURE_BYTES)..) : checked(bytes)
          payload && serialized(id, name, payload)
        end

        def checked(bytes)
          Codecs::Frame.open_value(bytes, checksum: false).last
        rescue UnreadableError => error
          cannot(bytes, error.message)
        end

        def serialized(id, name, payload)
          case name
          when :marshal then marshal(payload)
          when :json, :active_support_json, :xml then foreign_text(payload, name.to_s.split("_").last.upcase)
          when :message_pack then message_pack(payload.delete_prefix(MessagePackReader::SIGNATURE))
          when :native then tree(payload, "Larder's own format")
          when nil then id == Codecs::Frame::ENTRY ? encoded(payload) : hexadecimal(payload, names[id] || "unknown")
          else hexadecimal(payload, name.to_s)
          end
        end

        def names
          { Codecs::Frame::TYPED => "objects of declared classes (Larder::Cacheable)",
            Codecs::Frame::DICTIONARY => "a dictionary of a compressor" }
        end
      end
    end
  end
end
