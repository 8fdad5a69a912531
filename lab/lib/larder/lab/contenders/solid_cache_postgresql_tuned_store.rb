# frozen_string_literal: true

require_relative "solid_cache_postgresql_store"

module Larder
  module Lab
    module Contenders
      # Solid Cache on a PostgreSQL that is tuned for it: the settings of its server, and an unlogged table, which
      # writes no write-ahead log and is empty after a crash. pg_prewarm has a row of its own.
      class SolidCachePostgresqlTunedStore < SolidCachePostgresqlStore
        named "solid_cache-postgresql-tuned", "Solid Cache on PostgreSQL: unlogged table, settings"
        slow_to_start
        needs_gem "pg", ">= 1.1"
        needs_gem "activerecord"
        needs_gem "railties"
        needs_gem "solid_cache", ">= 1.0"
        needs_server "postgresql-tuned"
        bundled_apart "solid_cache_postgresql"

        private

        def define_schema
          ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.create_unlogged_tables = true
          super
        end

        def recorded_database
          { **super, table: "unlogged" }
        end
      end
    end
  end
end
