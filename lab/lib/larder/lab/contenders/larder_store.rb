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
          raise Unavailable, "larder cannot be loaded: gem install larder, or bin/lab, which compiles its extension " \
                             "(#{error.message})"
        end
      end

      # Larder through `config.cache_store = :larder_store`.
      class LarderStore < Contender
        include WithLarder

        named "larder", "Larder: one mapped file, shared by all processes (:larder_store)"

        # As its guide to stampedes configures it: one caller computes, and the others get the expired value.
        row("larder-single-flight", "Larder with single_flight: true and stale_while_revalidate") do
          declares registry: SingleFlights

          private

          def options = { size: size, single_flight: true, stale_while_revalidate: SingleFlights::STALE }
        end

        private

        def open_store
          lookup(:larder_store, File.join(dir, "cache.larder"), { **options, error_handler: method(:fail_loudly) })
        end

        def options = { size: size }
      end
    end
  end
end
