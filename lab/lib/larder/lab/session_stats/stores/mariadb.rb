# frozen_string_literal: true

require_relative "table"

module Larder
  module Lab
    module SessionStats
      module Stores
        # MariaDB by Trilogy, which prepares nothing on the server: values are put in by the adapter's quoting.
        class MariadbTable < Sessions::Stores::MariadbStore
          extend Listed
          include Table
          named "sql-mariadb", "a table on MariaDB, indexed by session_id, user_id and updated_at; SQL by hand"
          needs_gem "trilogy", ">= 2.4"
          needs_gem "activerecord-session_store", ">= 2.0"
          needs_server "mariadb"
          bundled_apart "sessions_mariadb"

          private

          # Cut where values go.
          def prepared(query)
            query.split("?", -1)
          end

          def ask(query, *values)
            connection.select_rows(with(query, values))
          end

          def change(statement, *values)
            connection.update(with(statement, values))
          end

          def with(parts, values)
            return parts.first if values.empty?

            parts.zip(values.map { |value| connection.quote(value) }).join
          end

          def settle
            connection.execute("ANALYZE TABLE #{@table}")
          end

          def table_bytes
            connection.select_value("SELECT data_length + index_length FROM information_schema.tables " \
                                    "WHERE table_schema = DATABASE() AND table_name = '#{@table}'")
          end
        end
      end
    end
  end
end
