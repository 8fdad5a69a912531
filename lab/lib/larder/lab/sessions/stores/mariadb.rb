# frozen_string_literal: true

require_relative "../../contenders/own_database"
require_relative "in_sql"

module Larder
  module Lab
    module Sessions
      module Stores
        # activerecord-session_store on MariaDB with its own defaults, by Trilogy.
        class MariadbStore < InSql
          named "activerecord-mariadb", "activerecord-session_store on MariaDB, a model"
          needs_gem "trilogy", ">= 2.4"
          needs_gem "activerecord-session_store", ">= 2.0"
          needs_server "mariadb"
          bundled_apart "sessions_mariadb"

          # The server's variable.
          QUERY_CACHE = "query_cache_type"
          ON = "its query cache is on: --mariadb-query-cache-url is for such a server"
          private_constant :QUERY_CACHE, :ON

          class << self
            # @return [Boolean] whether the server's query cache is to be on
            def query_cache?
              @query_cache == true
            end

            private

            def with_query_cache
              @query_cache = true
            end
          end

          private

          def load_driver
            require "trilogy"
          end

          def place
            Contenders::OwnDatabase.new(where, shown(endpoint["url"]))
          end

          def database
            { adapter: "trilogy", **where, database: Contenders::OwnPlace::NAME }
          end

          def where
            Contenders::OwnDatabase.options(endpoint["url"])
          end

          def server_version
            "#{connection.select_value("SELECT VERSION()")}, #{QUERY_CACHE} #{query_cache}"
          end

          # As the server says it; nil where it has none.
          def query_cache
            connection.select_rows("SHOW GLOBAL VARIABLES LIKE '#{QUERY_CACHE}'").first&.last
          end

          def look
            wanted = self.class.query_cache?
            return if wanted == (query_cache == "ON")

            raise Unavailable, wanted ? lacking : ON
          end

          def lacking
            version = connection.select_value("SELECT VERSION()")
            return "#{version} has no query cache (MySQL since 8 has none)" unless query_cache

            "its query cache is off: start it with --query-cache-type=ON --query-cache-size=64M"
          end
        end

        # The same with the server's query cache.
        class MariadbCached < MariadbStore
          named "activerecord-mariadb-cached", "the same with the server's query cache on"
          needs_gem "trilogy", ">= 2.4"
          needs_gem "activerecord-session_store", ">= 2.0"
          needs_server "mariadb-query-cache"
          bundled_apart "sessions_mariadb"
          with_query_cache
        end

        # SQL by hand.
        class MariadbByHand < MariadbStore
          named "sql-mariadb", "its SqlBypass on MariaDB: SQL by hand, as was published"
          needs_gem "trilogy", ">= 2.4"
          needs_gem "activerecord-session_store", ">= 2.0"
          needs_server "mariadb"
          bundled_apart "sessions_mariadb"
          by_hand
        end

        # SQL by hand with the server's query cache.
        class MariadbByHandCached < MariadbStore
          named "sql-mariadb-cached", "the same with the server's query cache on"
          needs_gem "trilogy", ">= 2.4"
          needs_gem "activerecord-session_store", ">= 2.0"
          needs_server "mariadb-query-cache"
          bundled_apart "sessions_mariadb"
          by_hand
          with_query_cache
        end
      end
    end
  end
end
