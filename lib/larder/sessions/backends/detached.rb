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
        # @param ends_life [Numeric, nil] seconds that an end stays listed at most; nil: for ever
        def initialize(cache, ends_life: nil)
          super(File.new(cache), nil, calls: -> { no_store }, ends_life: ends_life)
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

        private

        # Makes no copy, and notes none.
        def copy!(*)
          no_store
        end

        def no_store
          raise UnavailableError.new(cache.path, "this program has no store behind it")
        end
      end
    end
  end
end
