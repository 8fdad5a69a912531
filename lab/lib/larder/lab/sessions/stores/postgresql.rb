# frozen_string_literal: true

require_relative "../../contenders/own_schema"
require_relative "in_sql"

module Larder
  module Lab
    module Sessions
      module Stores
        # activerecord-session_store on PostgreSQL as initdb leaves it.
        class PostgresqlStore < InSql
          named "activerecord-postgresql", "activerecord-session_store on PostgreSQL, a model"
          needs_gem "pg", ">= 1.1"
          needs_gem "activerecord-session_store", ">= 2.0"
          needs_server "postgresql"
          bundled_apart "sessions_postgresql"

          private

          def load_driver
            require "pg"
          end

          def place
            Contenders::OwnSchema.new(endpoint["url"], shown(endpoint["url"]))
          end

          def database
            { adapter: "postgresql", url: endpoint["url"], schema_search_path: Contenders::OwnPlace::NAME }
          end

          def server_version
            "PostgreSQL #{connection.select_value("SHOW server_version")}"
          end
        end
      end
    end
  end
end
