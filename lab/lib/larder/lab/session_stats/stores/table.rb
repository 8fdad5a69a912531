# frozen_string_literal: true

require "json"

module Larder
  module Lab
    module SessionStats
      module Stores
        # A table of sessions as an application makes it to answer questions about them, and hand-written SQL for each
        # question. A subclass implements `database`, `prepared` (what it takes for SQL with "?" for values), `rows` of
        # a statement, `settle` (done after loading) and `bytes`.
        class Table < Row
          TIME = "%Y-%m-%d %H:%M:%S"
          TABLE = "session_statistics"
          # Beside the one of session_id, which is unique.
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
            raise Unavailable, "its server does not answer: #{error.message.lines.first.to_s.strip}"
          end

          def connection
            ActiveRecord::Base.connection
          end

          # Many rows at once, then the indexes.
          def load
            create
            (0...SESSIONS).each_slice(TOGETHER) do |numbers|
              connection.execute("INSERT INTO #{TABLE} (session_id, user_id, data, created_at, updated_at) " \
                                 "VALUES #{numbers.map { |number| row(number) }.join(", ")}")
            end
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

          # Answers are right to the second.
          def grain(_seconds)
            0
          end

          # Sessions count as used a minute ago first.
          def uses(numbers)
            times = [@population.at, @population.at - Population::MINUTE].map { |seconds| time(seconds) }
            ids = numbers.map { |number| @population.digest(number) }
            connection.transaction { ids.each { |id| rows(@statements[:use], times.last, id) } }
            lambda do |turn|
              rows(@statements[:use], times[turn % 2], ids[turn / 2 % ids.size])
              true
            end
          end

          def restore(numbers)
            numbers.each do |number|
              rows(@statements[:use], time(@population.used(number)), @population.digest(number))
            end
          end

          def time(seconds)
            Time.at(seconds).utc.strftime(TIME)
          end

          def row(number)
            used = "'#{time(@population.used(number))}'"
            user = @population.signed_in?(number) ? @population.user(number) : "NULL"
            data = connection.quote(JSON.generate(@population.values(number)))
            "('#{@population.digest(number)}', #{user}, #{data}, #{used}, #{used})"
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
      end
    end
  end
end
