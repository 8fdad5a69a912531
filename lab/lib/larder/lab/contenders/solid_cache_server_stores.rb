# frozen_string_literal: true

require_relative "solid_cache_store"
require_relative "own_place"

module Larder
  module Lab
    module Contenders
      # The base of the contenders whose table is in a server, in a PLACE of the lab's.
      class SolidCacheInServer < SolidCacheApplication
        private

        attr_reader :place

        def connect
          @place = self.class::PLACE.new(endpoint).settle
          super
        end

        def database = { **place.database, **pool }

        def recorded_database
          { database: plain(database.except(:password)), server: ask_database("SELECT VERSION()") }
        end
      end

      # Solid Cache on PostgreSQL as it comes.
      class SolidCachePostgresqlStore < SolidCacheInServer
        named "solid_cache-postgresql", "Solid Cache on PostgreSQL as it comes",
              gems: { "pg" => ">= 1.1" }, server: "postgresql", bundle: "solid_cache_postgresql", slow_to_start: true

        ADAPTER = "postgresql"
        PLACE = OwnSchema

        # @return [Integer] bytes of the table and its indexes
        def disk_bytes = ask_database("SELECT pg_total_relation_size('solid_cache_entries')").to_i
      end

      # Solid Cache on a PostgreSQL that is tuned for it: the settings of its server, and an unlogged table, which
      # writes no write-ahead log and is empty after a crash. pg_prewarm has a row of its own.
      class SolidCachePostgresqlTunedStore < SolidCachePostgresqlStore
        named "solid_cache-postgresql-tuned", "Solid Cache on PostgreSQL: unlogged table, settings",
              server: "postgresql-tuned"

        private

        def define_schema
          ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.create_unlogged_tables = true
          super
        end

        def recorded_database = { **super, table: "unlogged" }
      end

      # The same with `pg_prewarm('solid_cache_entries')` after a block has stored what its calls read: only then the
      # table has pages that can be read into shared memory.
      class SolidCachePostgresqlPrewarmedStore < SolidCachePostgresqlTunedStore
        named "solid_cache-postgresql-prewarmed", "Solid Cache on tuned PostgreSQL, with pg_prewarm", on_request: true

        # @raise [Invalid] if the table had no pages
        def filled
          pages = ask_database("SELECT #{@extension}.pg_prewarm('solid_cache_entries')").to_i
          raise Invalid, "pg_prewarm found no page of solid_cache_entries" if pages.zero?
        end

        private

        # The extension may be there already, in any schema. The lab's goes with the lab's schema.
        def define_schema
          super
          ask_database("CREATE EXTENSION IF NOT EXISTS pg_prewarm SCHEMA #{place.name}")
          @extension = ask_database("SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_prewarm'")
        rescue ActiveRecord::StatementInvalid => error
          raise Unavailable, "this PostgreSQL has no pg_prewarm (Debian: it is in postgresql; elsewhere in " \
                             "postgresql-contrib): #{error.message.lines.first.to_s.strip}"
        end
      end

      # Solid Cache on MariaDB as it comes, through Trilogy.
      class SolidCacheMariadbStore < SolidCacheInServer
        named "solid_cache-mariadb", "Solid Cache on MariaDB as it comes",
              gems: { "trilogy" => ">= 2.4" }, server: "mariadb", bundle: "solid_cache_mariadb", on_request: true

        ADAPTER = "trilogy"
        PLACE = OwnDatabase

        # @return [Integer] bytes of the table and its indexes, as far as the server knows
        def disk_bytes
          ask_database("SELECT SUM(data_length + index_length) FROM information_schema.tables " \
                       "WHERE table_schema = '#{place.name}'").to_i
        end
      end
    end
  end
end
