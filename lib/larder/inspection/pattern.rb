# frozen_string_literal: true

# Decides which keys `larder keys` lists.

require_relative "errors"
require_relative "key_text"

module Larder
  module Inspection
    # A glob of `*` (any characters) and `?` (one character); without these it is the beginning of keys.
    class Pattern
      # One character of UTF-8, or a byte that is none.
      CHARACTER = "(?>[\\xC0-\\xFF][\\x80-\\xBF]{1,3}|.)"
      private_constant :CHARACTER

      # @return [String] with which all keys begin that match, binary
      attr_reader :prefix

      # @param text [String] as {KeyText} reads it
      # @param literal [Boolean] true: it is the beginning of keys as they are, and all its bytes stand for themselves
      # @raise [Invalid] no key is so long
      def initialize(text, literal: false)
        @prefix = text.b
        parse(text) unless literal
        return if @prefix.bytesize <= Cache::MAX_KEY

        raise Invalid, "keys have #{Cache::MAX_KEY} bytes at most, and the pattern begins with #{@prefix.bytesize}"
      end

      # @return [Boolean] do all keys match?
      def match_all?
        @prefix.empty? && @rest.nil?
      end

      # @return [Boolean] do all keys match that begin with the prefix?
      def beginning?
        @rest.nil?
      end

      # @param key [String] that begins with the prefix
      # @return [Boolean]
      def match?(key)
        @rest.nil? || @rest.match?(key)
      end

      private

      def parse(text)
        first, *rest = text.split(/([*?])/, -1).reject(&:empty?)
        first, rest = "", [first, *rest] if ["*", "?", nil].include?(first)
        @prefix = KeyText.bytes(first)
        @rest = regexp(rest.compact) unless rest.compact.empty?
      end

      # The text after each `*` is looked for once, from the left, except the last one: it is at the end.
      def regexp(parts)
        source = +""
        groups = parts.slice_before("*").to_a
        groups.each_with_index do |group, number|
          star = group.first == "*"
          text = (star ? group.drop(1) : group).map { |part| part == "?" ? CHARACTER : quoted(part) }.join
          source << if !star then text
                    elsif number == groups.size - 1 then ".*#{text}"
                    else "(?>.*?#{text})"
                    end
        end
        Regexp.new("\\A#{quoted_bytes(@prefix)}#{source}\\z".b, Regexp::MULTILINE | Regexp::NOENCODING)
      end

      def quoted(part)
        quoted_bytes(KeyText.bytes(part))
      end

      # Regexp.escape leaves bytes above 0x7F, which a Regexp without an encoding does not take.
      def quoted_bytes(bytes)
        bytes.each_byte.map { |byte| format("\\x%02X", byte) }.join
      end
    end
  end
end
