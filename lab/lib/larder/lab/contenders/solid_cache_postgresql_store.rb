# frozen_string_literal: true

require_relative "solid_cache/application"
require_relative "own_schema"

module Larder
  module Lab
    module Contenders
      # Solid Cache on PostgreSQL as it comes. Its table is in a schema of the lab's.
      class SolidCachePostgresqlStore < SolidCacheApplication
        named "solid_cache-postgresql", "Solid Cache on PostgreSQL as it comes"
        slow_to_start
        needs_gem "pg", ">= 1.1"
        needs_gem "activerecord"
        needs_gem "railties"
        needs_gem "solid_cache", ">= 1.0"
        needs_server "postgresql"
        bundled_apart "solid_cache_postgresql"

        ADAPTER = "postgresql"

        # @return [Integer] bytes of the table and its indexes
        def disk_bytes
          ask_database("SELECT pg_total_relation_size('solid_cache_entries')").to_i
        end

        private

        def connect
          require "pg"
          settle(OwnSchema.new(endpoint["url"], shown(endpoint["url"]), name: place_name))
          super
        end

        def database
          { adapter: ADAPTER, url: endpoint["url"], schema_search_path: place_name, **pool }
        end

        def recorded_database
          { database: database.merge(url: shown(endpoint["url"])), server: ask_database("SHOW server_version") }
        end
      end
    end
  end
end
