# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Loads Larder's store. Not by `gem "larder"`: a checkout runs from its own lib directory, without an installed
      # gem.
      module WithLarder
        private

        def load_code
          super
          require "active_support/cache/larder_store"
        rescue LoadError => error
          raise Unavailable, remedy(error)
        end

        def remedy(error)
          missing = error.path.to_s
          return "larder cannot be loaded: #{error.message}" unless missing.include?("larder")
          return "the gem larder is missing: gem install larder" unless missing.end_with?("larder/larder")

          "the extension of larder is not compiled: run bin/lab, or bundle exec rake compile (#{error.message})"
        end
      end

      # Larder through `config.cache_store = :larder_store`.
      class LarderStore < Contender
        include WithLarder

        named "larder", "Larder: one mapped file, shared by all processes (:larder_store)"

        # As its guide to stampedes configures it: one caller computes, and the others get the expired value.
        row("larder-single-flight", "Larder with single_flight: true and stale_while_revalidate") do
          registered_in SingleFlights

          private

          def options = { size: size, single_flight: true, stale_while_revalidate: SingleFlights::STALE }
        end

        private

        def open_store = lookup(:larder_store, File.join(dir, "cache.larder"), options)

        def options = { size: size }
      end
    end
  end
end
