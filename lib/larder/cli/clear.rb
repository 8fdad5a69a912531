# frozen_string_literal: true

# `larder clear`: empties a cache, or deletes a selection of its items.

require_relative "cache_command"
require_relative "inspection"

module Larder
  module CLI
    # `larder clear`: empties a cache.
    class Clear < CacheCommand
      # What users type.
      NAME = "clear"
      # One line for `larder --help`.
      SUMMARY = "empties a cache, or deletes a part of it"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder clear [PATH] [--json]
               larder clear [PATH] --prefix TEXT | --namespace NAME | --tag TAG |
                                   --keyspace NAME

        Empties a cache at once, for all processes, while they run. With one of the
        options it deletes only a part. It does not ask. It refuses files that are not
        caches, and files of sessions: use larder sessions logout.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        Keys are those that larder keys lists: "views/", or "shop:views/" if the store
        has namespace: "shop". --namespace deletes as Rails.cache.clear does in that
        store, and --tag as Rails.cache.delete_tagged. The tag of a record is its model
        and its id: products/7. Items with a tag are not counted, because a tag is
        deleted in the same time whatever their number.

        Examples:
          larder clear --prefix views/
          larder clear --namespace shop
          larder clear --tag products/7
          larder clear --keyspace views/products/_row

        Exit codes: 0 done, 1 the file is missing or cannot be used, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) do |options|
          Selections::ALL.each do |selection|
            options.on("--#{selection::NAME} #{selection::ARGUMENT}", *selection::HELP) do |text|
              select(selection, text)
            end
          end
        end
      end

      def select(selection, text)
        name = selection::NAME
        raise UsageError, "give either --#{@selection.name} or --#{name}, and once" if @selection
        raise UsageError, "--#{name} is empty: leave it out to empty the cache" if text.empty?

        @selection = selection.new(text)
      end

      def act
        deleted = visit do |cache|
          refuse_sessions(cache, "if that is wanted: larder sessions logout --all --file #{Remedy.quoted(path)}")
          @selection ? @selection.delete(cache) : empty(cache)
        end
        chosen = @selection ? { @selection.name.to_sym => @selection.text } : {}
        tell({ file: File.absolute_path(path), prefix: nil, **chosen, deleted: deleted },
             "Deleted #{[counted(deleted), *@selection].join(" ")} from #{path}.")
      end

      def counted(deleted)
        deleted ? Words.counted(deleted, "item") : "all items"
      end

      def empty(cache)
        items = cache.stats[:items]
        cache.clear
        items
      end
    end
  end
end
