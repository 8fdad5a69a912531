# frozen_string_literal: true

# Owns `larder clear`: empties a cache, or drops the keys of a prefix.

require_relative "cache_command"

module Larder
  module CLI
    # `larder clear`: empties a cache.
    class Clear < CacheCommand
      # What users type.
      NAME = "clear"
      # One line for `larder --help`.
      SUMMARY = "empties a cache, or drops what begins with a prefix"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder clear [PATH] [--prefix TEXT] [--json]

        Empties a cache, for all processes and at once, while they run. With --prefix
        only the keys that begin with it go. Does not ask. A file that is not a cache
        is refused, also one of sessions: larder sessions logout ends those.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        Keys are as Rails makes them: "views/", or "shop:views/" where the store has
        namespace: "shop".

        Exit codes: 0 done, 1 no such file or none that can be used, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) do |options|
          options.on("--prefix TEXT", "only keys that begin with it") { |prefix| @prefix = prefix }
        end
      end

      def act
        raise UsageError, "--prefix is empty: leave it out to empty the cache" if @prefix&.empty?

        dropped = visit do |cache|
          refuse_sessions(cache, "if that is wanted: larder sessions logout --all --file #{path}")
          @prefix ? drop(cache) : empty(cache)
        end
        tell({ file: File.expand_path(path), prefix: @prefix, dropped: dropped },
             "Dropped #{Words.counted(dropped, "item")}#{" that began with #{@prefix}" if @prefix} from #{path}.")
      end

      def empty(cache)
        items = cache.stats[:items]
        cache.clear
        items
      end

      def drop(cache)
        cache.each_key(prefix: @prefix).each_slice(1000).sum { |keys| cache.delete_multi(keys) }
      end
    end
  end
end
