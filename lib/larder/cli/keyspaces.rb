# frozen_string_literal: true

# Finds the keyspace of a key, as the statistics of a cache count it.

module Larder
  module CLI
    # Uses the namespaces and patterns that the application has named, if the cache has statistics.
    module Keyspaces
      # @param path [String] of the cache
      # @return [#call] gets a key, and answers the name of its keyspace
      # @raise [OpenError] the file of statistics cannot be used, so the names are not known
      def self.of(path)
        (Usage.read(path) || Usage).method(:keyspace_of)
      end
    end
  end
end
