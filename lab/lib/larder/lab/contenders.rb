# frozen_string_literal: true

require "larder/cli/registry"

module Larder
  module Lab
    # The stores that can take part, by the names users type. A new one is one file in contenders/ and its name at the
    # end of this file, or a `row` of a store that it resembles.
    module Contenders
      extend CLI::Registry
      holds "contender"

      # The contenders of `stampede`: those with which one caller computes a value for all, which no other command
      # measures, and all others.
      # @api private
      module SingleFlights
        extend CLI::Registry
        holds "contender"

        # Seconds for which an expired value may be served while it is computed again.
        STALE = 5

        class << self
          # Those with which one caller computes for all.
          def own = entries.keys

          def names = own + Contenders.names

          def fetch(name) = Contenders.names.include?(name) ? Contenders.fetch(name) : super
        end
      end
    end
  end
end

require_relative "clock"
require_relative "contender"
%w[larder_store rails_stores floor_store solid_cache_store solid_cache_server_stores litecache_store redis_store
   larder_redis_store memcached_store].each { |name| require_relative "contenders/#{name}" }
