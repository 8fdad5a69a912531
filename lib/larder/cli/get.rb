# frozen_string_literal: true

# `larder get`: shows what is under a key.

require_relative "key_command"
require_relative "inspection"

module Larder
  module CLI
    # `larder get`: shows an item and its value.
    class Get < KeyCommand
      # The name that users type.
      NAME = "get"
      # One line for `larder --help`.
      SUMMARY = "shows what is under a key"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder get KEY [--file PATH] [--raw] [--json]

        Shows what is under a key: how long it lives, how it is encoded, and its value.
        It reads without a lock, and is not counted as a read.
      TEXT
      FOOTER = <<~TEXT.freeze
        The value is shown as Ruby would write it. Nothing of it is loaded, and no code
        of the application runs: of Marshal and of objects the structure is shown. Long
        values are cut. The file has no texts of tags, only their number. Signatures
        are not verified.

        #{FILE_HELP}
        #{KEY_HELP}
        Examples:
          larder get views/products/7
          larder get views/products/7 --json | jq .encoding
          larder get photo --raw > photo.jpg

        Exit codes: 0 done, 1 the key is not there, or the file is missing or cannot be
        used, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) do |options|
          options.on("--raw", "write the bytes of the value as they are", "stored") { @raw = true }
        end
      end

      def operands(rest)
        raise UsageError, "name the key to show; larder keys lists them" if rest.empty?
        raise UsageError, "unexpected argument #{rest[1]}: one key at a time" if rest.size > 1

        @key = key_of(rest.first)
      end

      def understood
        raise UsageError, "--raw and --json: give one of them" if @raw && @json
      end

      def act
        item, bytes = visit { |cache| cache.item_with_value(@key) }
        absent unless item
        @now_ms = (Time.now.to_f * 1000).to_i
        @text = ItemText.new(item, @now_ms)
        view = Values::Decoder.new(item, bytes).view
        return raw(view.bytes) if @raw
        return tell(machines(item, view)) if @json

        show(item, view)
      end

      def absent
        key = KeyText.shown(@key)
        raise Failure, "there is no key #{key} in #{path}. Keys begin with the store's namespace; larder keys " \
                       "'*#{key.gsub("'") { "'\\''" }}*' finds those that contain it"
      end

      def raw(bytes)
        if @out.interactive? && bytes.match?(/[^\t\n -~]/n)
          raise UsageError, "--raw writes #{Words.counted(bytes.bytesize, "byte")} that a terminal cannot show; " \
                            "write them to a file: --raw > FILE"
        end

        @out.write(bytes)
        OK
      end

      def machines(item, view)
        { file: File.absolute_path(path), key: KeyText.shown(item.key), size: item.size,
          ttl: item.ttl(@now_ms)&.round(3), stale: @text.stale?, kept: @text.kept&.round(3),
          age_at_most: item.age(@now_ms).round(3), reads: item.reads, tags: item.tags, pinned: item.pinned,
          compute_ms: item.compute_ms, computing: item.leased,
          encoding: view.encoding, version: (ItemText.version(view.version) if view.version),
          value: view.node&.to_lines(Float::INFINITY)&.join("\n"), note: view.note }
      end

      def show(item, view)
        @out.puts(KeyText.shown(item.key), style: :bold)
        @out.puts("", *@text.facts(view).map { |label, text| "  #{label.ljust(12)}#{text}" }, "")
        @out.puts(*view.node.to_lines(@out.width - 2).map { |line| "  #{line}" }) if view.node
        @out.puts("", "Not all is shown: #{view.note}. --raw writes all bytes.", style: :dim) if view.note
        OK
      end
    end
  end
end
