# frozen_string_literal: true

# Gives stores empty files in memory: for each test, and for a block.

require "larder/bytes/companions"
require_relative "memory"
require_relative "subject"

module Larder
  module TestHelper
    # The store stays the same object, so whatever refers to it goes on with the other file.
    # @api private
    module Emptying
      # Bytes of a file, or as many as the store is configured for, if that is less.
      SIZE = 16 << 20
      private_constant :SIZE

      # A store whose file is in memory, of a process.
      Moved = Struct.new(:pid, :store, :cache, :former)
      private_constant :Moved

      @mutex = Mutex.new

      class << self
        # Empties Rails.cache, in memory. A cache of another kind, and one with a store behind it, stays as it is.
        #
        # @return [void]
        def begin_test
          store = rails_cache
          return unless Subject.larders?(store) && !store.remote

          @mutex.synchronize { move(store) unless moved?(store) }
          store.cache.clear
        end

        # @param store [ActiveSupport::Cache::LarderStore]
        # @return [Object] what the block returns
        def with_empty(store)
          empty = nil
          former = store.exchange { |settings| empty = in_memory(settings) }
          yield
        ensure
          give_back(store, empty, former) if former
        end

        private

        def rails_cache
          Rails.cache if defined?(Rails) && Rails.respond_to?(:cache)
        end

        def moved?(store)
          @moved && @moved.pid == Process.pid && @moved.store.equal?(store) && @moved.cache.equal?(store.cache)
        end

        def move(store)
          cache = nil
          former = store.exchange { |settings| cache = in_memory(settings) }
          @moved = Moved.new(Process.pid, store, cache, former)
          moved = @moved
          at_exit { end_process(moved) if moved.pid == Process.pid }
        end

        def in_memory(settings)
          Memory.current.open { |path| settings.open(path, size: [SIZE, settings.size].compact.min) }
        end

        # A test may have exchanged the cache once more.
        def give_back(store, cache, former)
          store.exchange { former } if store.cache.equal?(cache)
          cache.close
          FileUtils.rm_f([cache.path, *Companions.of(cache.path).keys])
        end

        def end_process(moved)
          give_back(moved.store, moved.cache, moved.former)
          Memory.current.remove
        end
      end
    end
  end
end
