# frozen_string_literal: true

require_relative "table"

module Larder
  module Lab
    module SessionStats
      module Stores
        # PostgreSQL as initdb leaves it, with statements that it prepares once.
        class PostgresqlTable < Sessions::Stores::PostgresqlStore
          extend Listed
          include Table
          named "sql-postgresql", "the same table on PostgreSQL; SQL by hand, prepared on the server"
          needs_gem "pg", ">= 1.1"
          needs_gem "activerecord-session_store", ">= 2.0"
          needs_server "postgresql"
          bundled_apart "sessions_postgresql"

          private

          # Values have numbers.
          def prepared(query)
            number = 0
            query.gsub("?") { "$#{number += 1}" }
          end

          def ask(query, *values)
            connection.exec_query(query, "Statistics", values, prepare: true).rows
          end
          alias change ask

          # Pages that are all visible need not be looked at for a count by index.
          def settle
            connection.execute("VACUUM ANALYZE #{@table}")
          end

          def table_bytes
            connection.select_value("SELECT pg_total_relation_size('#{@table}')")
          end
        end
      end
    end
  end
end
