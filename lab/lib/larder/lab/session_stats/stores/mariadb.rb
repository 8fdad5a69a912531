# frozen_string_literal: true

require_relative "../../contenders/own_database"
require_relative "table"

module Larder
  module Lab
    module SessionStats
      module Stores
        # MariaDB by Trilogy, which prepares nothing on the server: values are put in by the adapter's quoting.
        class MariadbTable < Table
          named "sql-mariadb", "a table on MariaDB, indexed by session_id, user_id and updated_at; SQL by hand"
          needs_gem "trilogy", ">= 2.4"
          needs_server "mariadb"
          bundled_apart "sessions"

          private

          def database
            require "trilogy"
            options = Contenders::OwnDatabase.options(endpoint["url"])
            name = Contenders::OwnPlace.name_in(endpoint)
            place = Contenders::OwnDatabase.new(options, shown(endpoint["url"]), name: name)
            endpoint["private"] ? place.share : place.take
            { adapter: "trilogy", **options, database: name }
          end

          # Cut where values go.
          def prepared(query)
            query.split("?", -1)
          end

          def rows(parts, *values)
            sql = values.empty? ? parts.first : parts.zip(values.map { |value| connection.quote(value) }).join
            sql.start_with?("SELECT") ? connection.select_rows(sql) : connection.update(sql)
          end

          def settle
            connection.execute("ANALYZE TABLE #{TABLE}")
          end

          def bytes
            connection.select_value("SELECT data_length + index_length FROM information_schema.tables " \
                                    "WHERE table_schema = DATABASE() AND table_name = '#{TABLE}'")
          end
        end
      end
    end
  end
end
