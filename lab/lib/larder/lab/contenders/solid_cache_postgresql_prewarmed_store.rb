# frozen_string_literal: true

require_relative "solid_cache_postgresql_tuned_store"

module Larder
  module Lab
    module Contenders
      # Solid Cache on the tuned PostgreSQL, with `pg_prewarm('solid_cache_entries')` after a block has stored what its
      # calls read: only then the table has pages that can be read into shared memory.
      class SolidCachePostgresqlPrewarmedStore < SolidCachePostgresqlTunedStore
        named "solid_cache-postgresql-prewarmed", "Solid Cache on tuned PostgreSQL, with pg_prewarm"
        slow_to_start
        only_on_request
        needs_gem "pg", ">= 1.1"
        needs_gem "activerecord"
        needs_gem "railties"
        needs_gem "solid_cache", ">= 1.0"
        needs_server "postgresql-tuned"
        bundled_apart "solid_cache_postgresql"

        # @return [void]
        # @raise [Invalid] if the table had no pages
        def filled
          pages = ask_database("SELECT #{@extension}.pg_prewarm('solid_cache_entries')").to_i
          raise Invalid, "pg_prewarm found no page of solid_cache_entries" if pages.zero?
        end

        private

        # The extension may be there already, in any schema. The lab's goes with the lab's schema.
        def define_schema
          super
          ask_database("CREATE EXTENSION IF NOT EXISTS pg_prewarm SCHEMA #{place_name}")
          @extension = ask_database("SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_prewarm'")
        rescue ActiveRecord::StatementInvalid => error
          raise Unavailable, "this PostgreSQL has no pg_prewarm (Debian: it is in postgresql; elsewhere in " \
                             "postgresql-contrib): #{error.message.lines.first.to_s.strip}"
        end
      end
    end
  end
end
