# frozen_string_literal: true

# What is written as a text: safe HTML, other encodings, addresses and paths.

require "larder/larder"
require "larder/codecs/tree/parts"

module Larder
  module Tree
    # A String and what it means.
    # @api private
    module Texts
      TAKERS = {
        "String" => :take_text, "ActiveSupport::SafeBuffer" => :take_safe_buffer, "IPAddr" => :take_ip_address,
        "ActiveModel::Type::Binary::Data" => :take_binary, "Pathname" => :take_path
      }.freeze
      # Characters. Ruby 3.1 reads longer ones in quadratic time.
      LONGEST_URI = 2048
      LONGEST_ADDRESS = 64
      ADDRESS_STATE = %i[@addr @family @mask_addr @zone_id].freeze
      private_constant :LONGEST_URI, :LONGEST_ADDRESS, :ADDRESS_STATE

      private

      # In another encoding than those that are plain.
      def take_text(text)
        [TEXT, [text.encoding.name.to_sym, text.b]] if Parts.plain?(text)
      end

      def make_text(encoding, bytes)
        bytes.force_encoding(encoding.name)
      end

      def take_safe_buffer(buffer)
        [SAFE_BUFFER, [buffer.to_str]] if buffer.html_safe? && Parts.plain?(buffer, [:@html_safe])
      end

      def make_safe_buffer(text)
        ActiveSupport::SafeBuffer.new(text)
      end

      def take_binary(data)
        [BINARY, [data.to_s]] if Parts.plain?(data, [:@value])
      end

      def make_binary(bytes)
        ActiveModel::Type::Binary::Data.new(bytes)
      end

      # Where reading its text makes the same again.
      def take_uri(uri)
        text = uri.to_s
        return if text.size > LONGEST_URI

        copy = ::URI.parse(text)
        same = copy.instance_of?(uri.class) && copy.select(*copy.component) == uri.select(*uri.component) &&
               Parts.plain?(uri, copy.instance_variables)
        [URI, [text]] if same
      end

      def make_uri(text)
        text.size > LONGEST_URI ? UNREADABLE : ::URI.parse(text)
      end

      def take_ip_address(address)
        zone = address.respond_to?(:zone_id) && address.ipv6? && address.zone_id
        [IP_ADDRESS, [address.to_s, address.prefix]] if !zone && Parts.plain?(address, ADDRESS_STATE)
      end

      def make_ip_address(text, prefix)
        text.size > LONGEST_ADDRESS ? UNREADABLE : IPAddr.new("#{text}/#{prefix}")
      end

      def take_path(path)
        [PATH, [path.to_s]] if Parts.plain?(path, [:@path])
      end

      def make_path(text)
        Pathname.new(text)
      end
    end
  end
end
