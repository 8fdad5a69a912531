# frozen_string_literal: true

# Finds the keyspace of a key, as the statistics of a cache count it.

require_relative "errors"

module Larder
  module Inspection
    # Uses the namespaces and patterns that the application has named.
    module Keyspaces
      # @param path [String] of the cache
      # @return [#call] gets a key, and answers the name of its keyspace
      # @raise [Failure, OpenError] there are no statistics, so the names are not known
      def self.of(path)
        usage = Usage.read(path)
        return usage.method(:keyspace_of) if usage

        raise Failure, "there are no statistics of #{path}, so its namespaces and keyspaces are not known; " \
                       "use --prefix"
      end
    end
  end
end
