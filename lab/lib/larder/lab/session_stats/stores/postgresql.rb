# frozen_string_literal: true

require_relative "../../contenders/own_schema"
require_relative "table"

module Larder
  module Lab
    module SessionStats
      module Stores
        # PostgreSQL as initdb leaves it, with statements that it prepares once.
        class PostgresqlTable < Table
          named "sql-postgresql", "the same table on PostgreSQL; SQL by hand, prepared on the server"
          needs_gem "pg", ">= 1.1"
          needs_server "postgresql"
          bundled_apart "sessions_postgresql"

          private

          def database
            require "pg"
            name = Contenders::OwnPlace.name_in(endpoint)
            place = Contenders::OwnSchema.new(endpoint["url"], shown(endpoint["url"]), name: name)
            endpoint["private"] ? place.share : place.take
            { adapter: "postgresql", url: endpoint["url"], schema_search_path: name }
          end

          # Values have numbers.
          def prepared(query)
            number = 0
            query.gsub("?") { "$#{number += 1}" }
          end

          def rows(query, *values)
            connection.exec_query(query, "Statistics", values, prepare: true).rows
          end

          # Pages that are all visible need not be looked at for a count by index.
          def settle
            connection.execute("VACUUM ANALYZE #{TABLE}")
          end

          def bytes
            connection.select_value("SELECT pg_total_relation_size('#{TABLE}')")
          end
        end
      end
    end
  end
end
