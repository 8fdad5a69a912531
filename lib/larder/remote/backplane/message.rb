# frozen_string_literal: true

# The bytes of messages that name copies which are old.

require "json"

module Larder
  module Remote
    class Backplane
      # A message is a JSON Array: the version of its format, the id of the machine that sends it, a kind (keys, tags or
      # prefix) and texts in Base64. The prefix "" is that of all keys.
      # @api private
      module Message
        # Bytes of texts in a message: NOTIFY of PostgreSQL takes 8,000 for the whole.
        LONGEST = 7000
        VERSION = 1
        KINDS = %w[keys tags prefix].freeze
        EVERYTHING = [:prefix, [""]].freeze
        private_constant :LONGEST, :VERSION, :KINDS

        module_function

        # @param machine [String] an id
        # @param changes [Array<Array(Symbol, Array<String>)>] kinds and texts
        # @return [Array<String>] as few messages as they fit into
        def encode(machine, changes)
          changes = [EVERYTHING] if changes.any? { |_, texts| texts.any? { |text| too_long?(text) } }
          changes.group_by(&:first).flat_map do |kind, of_kind|
            parts(of_kind.flat_map(&:last).uniq).map { |part| JSON.generate([VERSION, machine, kind, part]) }
          end
        end

        # @param message [String] of any sender
        # @return [Array(Object, Symbol, Array<String>)] the machine, a kind and texts; all keys if the message is of a
        #   later version, or cannot be read
        def decode(message)
          version, machine, kind, texts = JSON.parse(message)
          return [machine, *EVERYTHING] unless version == VERSION && KINDS.include?(kind)

          [machine, kind.to_sym, texts.map { |text| text.unpack1("m0") }]
        rescue JSON::ParserError, ::ArgumentError, TypeError, NoMethodError
          [nil, *EVERYTHING]
        end

        def too_long?(text)
          text.bytesize > LONGEST / 4 * 3
        end

        def parts(texts)
          bytes = 0
          texts.map { |text| [text].pack("m0") }.slice_when do |before, text|
            bytes += before.bytesize + 4
            (bytes + text.bytesize > LONGEST).tap { |is_full| bytes = 0 if is_full }
          end
        end
        private_class_method :too_long?, :parts
      end
    end
  end
end
