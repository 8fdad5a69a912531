# frozen_string_literal: true

require_relative "solid_cache_postgresql_store"

module Larder
  module Lab
    module Contenders
      # Solid Cache on a PostgreSQL that is tuned for it: the settings of its server, an unlogged table, which writes no
      # write-ahead log and is empty after a crash, and pg_prewarm before the run, as published.
      class SolidCachePostgresqlTunedStore < SolidCachePostgresqlStore
        named "solid_cache-postgresql-tuned", "Solid Cache on PostgreSQL: unlogged table, settings, pg_prewarm"
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
          prewarm
        end

        # On a server of the user's we may not be allowed to; the record tells.
        def prewarm
          ask_database("CREATE EXTENSION IF NOT EXISTS pg_prewarm WITH SCHEMA #{OwnPlace::NAME}")
          where = ask_database("SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_prewarm'")
          pages = ask_database("SELECT #{where}.pg_prewarm('solid_cache_entries')")
          @prewarmed = "pg_prewarm('solid_cache_entries'): #{pages} pages"
        rescue ActiveRecord::StatementInvalid => error
          @prewarmed = "not prewarmed: #{error.message.lines.first.to_s.strip}"
        end

        def recorded_database
          { **super, table: "unlogged", prewarmed: @prewarmed }
        end
      end
    end
  end
end
