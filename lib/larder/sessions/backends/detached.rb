# frozen_string_literal: true

# Ends sessions in a file whose copies are in a store that this program cannot reach, as the command line.

require_relative "backed"

module Larder
  module Sessions
    module Backends
      # A {Backed} whose store never answers: what it changes and ends is listed in the file, and the application tells
      # the store.
      class Detached < Backed
        # @param cache [Larder::Cache]
        def initialize(cache)
          never = -> { raise UnavailableError.new(cache.path, "this program has no store behind it") }
          super(File.new(cache), nil, calls: never, ends_life: nil)
        end

        # The file answers.
        # @return [Hash{String => String}]
        def copies(_keys)
          {}
        end

        # Leaves it to the application.
        # @return [void]
        def tell; end

        # @return [String] where sessions are kept, for people
        def to_s
          cache.path
        end
      end
    end
  end
end
