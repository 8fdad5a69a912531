# frozen_string_literal: true

# Owns how sessions are ended in a file whose copies are in a store that this program does not have.

require_relative "file"
require_relative "tombstones"

module Larder
  module Sessions
    module Backends
      # As {File}, but what is deleted leaves a mark for as long as its copy lives: the application does not reload it
      # while the file lasts.
      class Detached < File
        # @param cache [Larder::Cache]
        def initialize(cache)
          super
          @tombstones = Tombstones.new(cache)
        end

        # @return [true]
        def copied?
          true
        end

        # @param (see File#delete)
        # @return (see File#delete)
        def delete(key)
          life = Tombstones.beyond(@cache.ttl(key) || 0)
          @tombstones.set(key, life: life && [life, Tombstones::REMEMBERED].max)
          super
        end
      end
    end
  end
end
