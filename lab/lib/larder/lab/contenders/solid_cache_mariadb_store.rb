# frozen_string_literal: true

require_relative "solid_cache/application"
require_relative "own_database"

module Larder
  module Lab
    module Contenders
      # Solid Cache on MariaDB as it comes, through Trilogy. Its table is in a database of the lab's.
      class SolidCacheMariadbStore < SolidCacheApplication
        named "solid_cache-mariadb", "Solid Cache on MariaDB as it comes"
        needs_gem "trilogy", ">= 2.4"
        needs_gem "activerecord"
        needs_gem "railties"
        needs_gem "solid_cache", ">= 1.0"
        needs_server "mariadb"
        bundled_apart "solid_cache_mariadb"
        only_on_request

        ADAPTER = "trilogy"

        # @return [Integer] bytes of the table and its indexes, as far as the server knows
        def disk_bytes
          ask_database("SELECT SUM(data_length + index_length) FROM information_schema.tables " \
                       "WHERE table_schema = '#{place_name}'").to_i
        end

        private

        def connect
          require "trilogy"
          settle(OwnDatabase.new(options, shown(endpoint["url"]), name: place_name))
          super
        end

        def database
          { adapter: ADAPTER, **options, database: place_name, **pool }
        end

        def recorded_database
          { database: database.except(:password), server: ask_database("SELECT VERSION()") }
        end

        def options
          OwnDatabase.options(endpoint["url"])
        end
      end
    end
  end
end
