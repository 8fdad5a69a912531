# frozen_string_literal: true

# The base of the commands about keys: their operands are keys, so the file is an option.

require_relative "cache_command"
require_relative "inspection"

module Larder
  module CLI
    # A command that takes KEY, and PATH as `--file`.
    class KeyCommand < CacheCommand
      # The text of `--help` about the file.
      FILE_HELP = <<~TEXT
        Without --file it is $LARDER_PATH or, in an application's directory or below,
        storage/larder/<environment>/cache.larder. The environment is $RAILS_ENV,
        $RACK_ENV or development; if no variable names it, another environment's file
        is used where it is the only one.
      TEXT
      # The text of `--help` about keys.
      KEY_HELP = <<~TEXT
        Keys are those of Rails, with the namespace: "shop:views/1" if the store has
        namespace: "shop". Bytes that cannot be printed are \\x and two digits, such as
        \\x00, and a backslash is \\\\.
      TEXT

      private

      # @yieldparam options [OptionParser]
      def explained(banner, footer = nil)
        super do |options|
          yield options
          options.on("--file PATH", "the cache's file, see below") { |path| @path = path }
        end
      end

      # @param text [String]
      # @return [String] the key, binary
      # @raise [UsageError] it is too long
      def key_of(text)
        key = KeyText.bytes(text)
        return key if key.bytesize <= Cache::MAX_KEY

        raise UsageError, "the key #{KeyText.shown(key.byteslice(0, 40))}... has #{Words.count(key.bytesize)} bytes; " \
                          "keys have #{Words.count(Cache::MAX_KEY)} at most"
      end

      def usual_line
        "#{self.class::NAME} ... --file #{Remedy.quoted(path)}"
      end

      def missing
        no_file(path, "Name the cache's file with --file, or go to the application's directory; its application " \
                      "creates it at its first use", NAME_OF_FILE)
      end
    end
  end
end
