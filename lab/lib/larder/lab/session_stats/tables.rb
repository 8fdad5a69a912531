# frozen_string_literal: true

require "json"

module Larder
  module Lab
    module SessionStats
      module Stores
        # A table of sessions as an application makes it to answer questions about them, and hand-written SQL for each
        # question. A subclass has `database`, `prepared` (what it takes for SQL with "?" for values), `rows` of a
        # statement, `settle` (done after loading) and `bytes`.
        class Table < Row
          TIME = "%Y-%m-%d %H:%M:%S"
          TABLE = "session_statistics"
          # Besides the one of session_id, which is unique.
          INDEXES = %i[user_id updated_at].freeze
          SQL = { logged_in: "SELECT 1 FROM #{TABLE} WHERE user_id = ? LIMIT 1",
                  last_seen: "SELECT MAX(updated_at) FROM #{TABLE} WHERE user_id = ?",
                  for: "SELECT updated_at, created_at, session_id, data FROM #{TABLE} WHERE user_id = ? " \
                       "ORDER BY updated_at DESC",
                  active: "SELECT COUNT(*) FROM #{TABLE} WHERE updated_at >= ?",
                  all: "SELECT COUNT(*) FROM #{TABLE}",
                  use: "UPDATE #{TABLE} SET updated_at = ? WHERE session_id = ?" }.freeze
          private_constant :TIME, :INDEXES, :SQL

          # @return [Hash{Symbol=>Object}] for the record, without secrets
          def recorded
            { store: :table, indexes: [:session_id, *INDEXES], server: connection.select_value("SELECT VERSION()") }
          end

          private

          def connect
            require "active_record"
            ActiveRecord::Base.establish_connection(database)
            connection.select_value("SELECT 1")
            @statements = SQL.transform_values { |sql| prepared(sql) }
          rescue ActiveRecord::ActiveRecordError => error
            raise no_answer(error)
          end

          def connection = ActiveRecord::Base.connection

          # Many rows at once, then the indexes.
          def load
            create
            rows = (0...SESSIONS).map { |number| row(number) }
            model = Class.new(ActiveRecord::Base) { self.table_name = TABLE }
            rows.each_slice(TOGETHER) { |some| model.insert_all!(some) }
            connection.add_index(TABLE, :session_id, unique: true)
            INDEXES.each { |column| connection.add_index(TABLE, column) }
            settle
          end

          def ask(question, argument)
            argument = time(@population.at - argument) if question == :active
            found = rows(@statements.fetch(question), *argument)
            case question
            when :logged_in then found.any?
            when :last_seen then found.dig(0, 0).to_i
            when :for then found.map { |cells| cells.first.to_i }
            else found.dig(0, 0)
            end
          end

          def grain(_seconds) = 0

          def use(number, _from, to)
            id, to = @population.digest(number), time(to)
            -> { rows(@statements[:use], to, id) }
          end

          def time(seconds) = Time.at(seconds).utc.strftime(TIME)

          def row(number)
            used = Time.at(@population.used(number)).utc
            user = user(number)
            { session_id: @population.digest(number), user_id: (user if Sessions::Population.signed_in?(user)),
              data: JSON.generate(values(number)), created_at: used, updated_at: used }
          end

          def create
            connection.create_table(TABLE, force: true) do |columns|
              columns.string :session_id, null: false, limit: 255
              columns.bigint :user_id
              columns.text :data
              columns.timestamps
            end
          end
        end

        # MariaDB by Trilogy, which prepares nothing on the server: values are put in by the adapter's quoting.
        class MariadbTable < Table
          named "sql-mariadb", "a table on MariaDB, indexed by session_id, user_id and updated_at; SQL by hand"
          needs_gem "trilogy", ">= 2.4"
          needs_server "mariadb"

          private

          def database = own_place(Contenders::OwnDatabase)

          # Cut where values go.
          def prepared(query) = query.split("?", -1)

          def rows(parts, *values)
            sql = values.empty? ? parts.first : parts.zip(values.map { |value| connection.quote(value) }).join
            sql.start_with?("SELECT") ? connection.select_rows(sql) : connection.update(sql)
          end

          def settle = connection.execute("ANALYZE TABLE #{TABLE}")

          def bytes
            connection.select_value("SELECT data_length + index_length FROM information_schema.tables " \
                                    "WHERE table_schema = DATABASE() AND table_name = '#{TABLE}'")
          end
        end

        # PostgreSQL as initdb leaves it, with statements that it prepares once.
        class PostgresqlTable < Table
          named "sql-postgresql", "the same table on PostgreSQL; SQL by hand, prepared on the server"
          needs_gem "pg", ">= 1.1"
          needs_server "postgresql"
          bundled_apart "sessions_postgresql"

          private

          def database = own_place(Contenders::OwnSchema)

          # Values have numbers.
          def prepared(query)
            number = 0
            query.gsub("?") { "$#{number += 1}" }
          end

          def rows(query, *values) = connection.exec_query(query, "Statistics", values, prepare: true).rows

          # Pages that are all visible need not be looked at for a count by index.
          def settle = connection.execute("VACUUM ANALYZE #{TABLE}")

          def bytes = connection.select_value("SELECT pg_total_relation_size('#{TABLE}')")
        end
      end
    end
  end
end
