# frozen_string_literal: true

require_relative "larder_store"

module Larder
  module Lab
    module Contenders
      # Larder as its guide to stampedes configures it: one caller computes, and an expired value is served meanwhile.
      class LarderSingleFlightStore < LarderStore
        registered_in SingleFlights
        named "larder-single-flight", "Larder with single_flight: true and stale_while_revalidate"

        private

        def open_store
          lookup(:larder_store, File.join(dir, "cache.larder"),
                 { size: size, single_flight: true, stale_while_revalidate: SingleFlights::STALE })
        end
      end
    end
  end
end
