# frozen_string_literal: true

# `larder delete`: deletes keys.

require_relative "key_command"

module Larder
  module CLI
    # `larder delete`: deletes keys.
    class Delete < KeyCommand
      # The name that users type.
      NAME = "delete"
      # One line for `larder --help`.
      SUMMARY = "deletes keys"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder delete KEY... [--file PATH] [--json]
               larder delete - [--file PATH] [--json]

        Deletes keys of a cache, for all processes, while they run, and says how many of
        them were there. With - it reads keys from standard input, one a line. It
        refuses files of sessions: use larder sessions logout.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{FILE_HELP}
        #{KEY_HELP}
        Examples:
          larder delete views/products/7 views/products/8
          larder keys 'views/*/7' --names | larder delete -

        Exit codes: 0 done, also if a key was not there, 1 the file is missing or cannot
        be used, 2 wrong usage.
      TEXT
      # Stands for the lines of standard input.
      INPUT = "-"
      # Keys that are deleted in one pass.
      BATCH = 1000
      private_constant :BANNER, :FOOTER, :INPUT, :BATCH

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) { |options| options }
      end

      def operands(rest)
        raise UsageError, "name the keys to delete, or - for those of standard input" if rest.empty?

        @input_keys = rest == [INPUT]
        @keys = rest.map { |text| key_of(text) } unless @input_keys
      end

      def act
        given, deleted = visit do |cache|
          refuse_sessions(cache, "end them one by one: larder sessions logout ID --file #{Remedy.quoted(path)}")
          delete(cache)
        end
        tell({ file: File.absolute_path(path), keys: given, deleted: deleted },
             "Deleted #{Words.count(deleted)} of #{Words.counted(given, "key")} from #{path}.")
      end

      # @return [Array(Integer, Integer)] how many keys were given, and how many were there
      def delete(cache)
        given = deleted = 0
        each_key.each_slice(BATCH) do |keys|
          given += keys.size
          deleted += cache.delete_multi(keys)
        end
        [given, deleted]
      end

      def each_key
        return @keys.each unless @input_keys

        Enumerator.new do |keys|
          @input.each_line(chomp: true) { |line| keys << key_of(line) unless line.empty? }
        end
      end
    end
  end
end
