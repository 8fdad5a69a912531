# frozen_string_literal: true

# Owns how sessions are ended in a file whose copies are in a store that this program does not have.

require_relative "file"
require_relative "tombstones"
require_relative "unwritten"

module Larder
  module Sessions
    module Backends
      # As {File}, but what is deleted leaves a mark for as long as its copy lives: the application does not reload it
      # while the file lasts. What is deleted or noted is listed as well: the application tells the store.
      class Detached < File
        # @param cache [Larder::Cache]
        def initialize(cache)
          super
          @tombstones = Tombstones.new(cache)
          @unwritten = Unwritten.new(cache)
        end

        # @param (see File#add)
        # @return (see File#add)
        def add(key, bytes, ttl, pin: false)
          super.tap { |outcome| list(key, ttl) if outcome == :stored }
        end

        # @param (see File#swap)
        # @return (see File#swap)
        def swap(key, expected, bytes, ttl, pin: false)
          super.tap { |outcome| list(key, ttl) if outcome == :stored }
        end

        # @return [true]
        def copied?
          true
        end

        # @param (see File#delete)
        # @return (see File#delete)
        def delete(key)
          left = @cache.ttl(key)
          life = Tombstones.beyond(left || 0)
          life &&= [life, Tombstones::REMEMBERED].max
          @tombstones.set(key, life: life)
          @unwritten.ended(key, life: life, pin: true) if left
          super
        end

        private

        def list(key, ttl)
          @unwritten.changed(key, life: ttl && Tombstones.beyond(ttl), pin: true)
        end
      end
    end
  end
end
