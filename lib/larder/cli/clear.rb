# frozen_string_literal: true

# `larder clear`: empties a cache, or deletes the keys with a prefix.

require_relative "cache_command"

module Larder
  module CLI
    # `larder clear`: empties a cache.
    class Clear < CacheCommand
      # What users type.
      NAME = "clear"
      # One line for `larder --help`.
      SUMMARY = "empties a cache, or deletes the keys with a prefix"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder clear [PATH] [--prefix TEXT] [--json]

        Empties a cache at once, for all processes, while they run. With --prefix it
        deletes only the keys that begin with the prefix. It does not ask. It refuses
        files that are not caches, and files of sessions: use larder sessions logout.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        Keys are those of Rails: "views/", or "shop:views/" if the store has
        namespace: "shop".

        Exit codes: 0 done, 1 the file is missing or cannot be used, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) do |options|
          options.on("--prefix TEXT", "only keys that begin with this") { |prefix| @prefix = prefix }
        end
      end

      def act
        raise UsageError, "--prefix is empty: leave it out to empty the cache" if @prefix&.empty?

        deleted = visit do |cache|
          refuse_sessions(cache, "if that is wanted: larder sessions logout --all --file #{path}")
          @prefix ? delete(cache) : empty(cache)
        end
        tell({ file: File.expand_path(path), prefix: @prefix, deleted: deleted },
             "Deleted #{Words.counted(deleted, "item")}#{" with the prefix #{@prefix}" if @prefix} from #{path}.")
      end

      def empty(cache)
        items = cache.stats[:items]
        cache.clear
        items
      end

      def delete(cache)
        cache.each_key(prefix: @prefix, all: true).each_slice(1000).sum { |keys| cache.delete_multi(keys) }
      end
    end
  end
end
