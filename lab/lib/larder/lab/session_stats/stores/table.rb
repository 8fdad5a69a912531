# frozen_string_literal: true

# A table of sessions as an application makes it to answer questions about them, and hand-written SQL for each
# question.

require "json"
require_relative "../population"

module Larder
  module Lab
    module SessionStats
      module Stores
        # For session stores in SQL. Including classes implement `prepared` (what they take for SQL with "?" for
        # values), `ask` (its rows), `change` (for what changes rows), `settle` (done after loading), `table_bytes`.
        module Table
          TIME = "%Y-%m-%d %H:%M:%S"
          # Beside the one of session_id, which is unique.
          INDEXES = %i[user_id updated_at].freeze
          # The one value of a query's only row.
          SINGLE = ->(rows) { rows.dig(0, 0) }

          # @return [void]
          # @raise [Unavailable]
          def ready
            connected { connection.select_value("SELECT 1") }
          end

          # @param population [Population]
          # @return [void]
          def take(population)
            @population = population
            @table = "statistics_#{population.size}"
          end

          # Many rows at once, then the indexes.
          # @yieldparam loaded [Integer] sessions so far
          # @return [void]
          def load
            create
            (0...@population.size).each_slice(Worker::TOGETHER) do |numbers|
              connection.execute("INSERT INTO #{@table} (session_id, user_id, data, created_at, updated_at) " \
                                 "VALUES #{numbers.map { |number| row(number) }.join(", ")}")
              yield numbers.last
            end
            connection.add_index(@table, :session_id, unique: true)
            INDEXES.each { |column| connection.add_index(@table, column) }
            settle
          end

          # @return [Hash{Symbol=>Integer}] bytes of the table and its indexes
          def weigh
            { bytes: table_bytes }
          end

          # @return [Hash{String=>#call}] see {LarderStore#questions}
          def questions
            all = prepared("SELECT COUNT(*) FROM #{@table}")
            { "logged-in" => asking("SELECT 1 FROM #{@table} WHERE user_id = ? LIMIT 1", &:any?),
              "last-seen" => asking("SELECT MAX(updated_at) FROM #{@table} WHERE user_id = ?", &SINGLE),
              "for" => asking("SELECT updated_at, created_at, session_id, data FROM #{@table} WHERE user_id = ? " \
                              "ORDER BY updated_at DESC"),
              "active" => active, "all" => ->(_) { SINGLE.call(ask(all)) } }
          end

          # @param answer [Object] of a question
          # @return [Object] see {LarderStore#plain}
          def plain(answer)
            case answer
            when Time then answer.to_i
            when Array then answer.map { |row| row.first.to_i }
            else answer
            end
          end

          # @return [Integer] answers are right to the second
          def grain(_seconds)
            0
          end

          # Sessions whose last use was a minute ago, for as long as the block runs.
          # @param numbers [Array<Integer>]
          # @yieldparam list [Array<Object>] what {#note} takes, one for each
          # @return [Object] the block's
          def noting(numbers)
            move(numbers) { @population.at - Population::MINUTE }
            yield(numbers.map { |number| @population.digest(number) })
          ensure
            move(numbers) { |number| @population.used(number) }
          end

          # @return [#call] notes one use
          def note
            now = time(@population.at)
            ->(id) { update(now, id) }
          end

          # @return [void]
          def leave; end

          # @return [Hash{Symbol=>Object}] for the record, without secrets
          def recorded
            { store: :table, indexes: [:session_id, *INDEXES], database: database.except(:password, :url),
              server: server_version }
          end

          private

          # A callable for a query with one value.
          def asking(query, &pick)
            query = prepared(query)
            pick ? ->(value) { pick.call(ask(query, value)) } : ->(value) { ask(query, value) }
          end

          def active
            query = prepared("SELECT COUNT(*) FROM #{@table} WHERE updated_at >= ?")
            ->(seconds) { SINGLE.call(ask(query, time(@population.at - seconds))) }
          end

          def update(time, id)
            @update ||= {}
            change(@update[@table] ||= prepared("UPDATE #{@table} SET updated_at = ? WHERE session_id = ?"), time, id)
          end

          def move(numbers)
            connection.transaction do
              numbers.each { |number| update(time(yield(number)), @population.digest(number)) }
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
            connection.create_table(@table) do |columns|
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
