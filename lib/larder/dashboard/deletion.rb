# frozen_string_literal: true

# Deletes a key or a part of a cache, and announces who did it.

require_relative "audit"
require_relative "problem"

module Larder
  class Dashboard
    # Deletes in the file or, if a store has `remote:`, by its own methods, so that other machines see it.
    # @api private
    class Deletion
      # Its payload has `:cache` (the path), `:key` or `:selection`, `:count` (nil: unknown) and `:actor`.
      EVENT = "dashboard_delete.larder"
      SLICE = 1000
      private_constant :SLICE

      # @param visit [Visit]
      # @raise [Problem] the file holds sessions
      def initialize(visit)
        @visit = visit
        @cache = visit.cache
        store = visit.source.store
        @store = store if store&.remote
        refuse_sessions
      end

      # @return [Boolean] is there a store behind the file?
      def remote?
        !@store.nil?
      end

      # @param key [String] with its namespace
      # @return [Boolean] was it there?
      def key(key)
        announced(key: key) do
          deleted = @store && !key.empty? ? @store.delete(text(key), namespace: nil) : @cache.delete(key)
          [deleted ? 1 : 0, deleted]
        end.last
      end

      # @param selection [Inspection::Selections::Selection]
      # @return [Integer, nil] how many items were deleted; nil: that is not known
      def part(selection)
        announced(selection: "#{selection.name} #{selection.text}") do
          [@store ? remotely(selection) : selection.delete(@cache)]
        end.first
      end

      # @return [Integer, nil] as {part}
      def all
        announced(selection: "all") do
          next [@store.clear && nil] if @store

          items = @cache.stats[:items]
          @cache.clear
          [items]
        end.first
      end

      private

      def refuse_sessions
        return unless @visit.source.sessions?

        raise Problem.new("This file holds sessions", "Emptying it would sign people out, so nothing is deleted here.",
                          "larder sessions logout --help", status: 403)
      end

      def announced(subject, &change)
        result = Audit.new(@visit).announce(EVENT, { cache: @cache.path, **subject }, &change)
        check_behind
        result
      end

      # The store remembers what the one behind the file has not got.
      def check_behind
        return unless @store&.stats&.dig(:remote, :waiting)

        raise Problem.new("The store behind the file does not answer",
                          "It is deleted on this machine, and there as soon as the store answers again.", status: 503)
      end

      def remotely(selection)
        case selection
        when Inspection::Selections::Tag then @store.delete_tagged(selection.text) && nil
        when Inspection::Selections::Namespace then @store.clear(namespace: selection.text.delete_suffix(":")) && nil
        else keys(selection)
        end
      end

      # Those that this machine knows.
      def keys(selection)
        selection.keys(@cache).each_slice(SLICE).sum do |slice|
          @store.delete_multi(slice.map { |key| text(key) }, namespace: nil).to_i
        end
      end

      def text(key)
        key.dup.force_encoding(Encoding::UTF_8)
      end
    end
  end
end
