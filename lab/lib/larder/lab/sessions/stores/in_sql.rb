# frozen_string_literal: true

module Larder
  module Lab
    module Sessions
      module Stores
        # activerecord-session_store, in the application's database unless a subclass connects to another one.
        class InSql < Store
          # SqlBypass keeps one connection for all threads. Here each thread has its own, as models have.
          module OwnConnection
            # @return [ActiveRecord::ConnectionAdapters::AbstractAdapter] of this thread
            def self.current
              model = ActiveRecord::SessionStore::Session
              model.respond_to?(:lease_connection) ? model.lease_connection : model.connection
            end

            # @return [ActiveRecord::ConnectionAdapters::AbstractAdapter] of this thread
            def connection
              OwnConnection.current
            end
          end

          class << self
            # @return [Boolean] whether sessions are read and written by hand-written SQL
            def bypass?
              @bypass == true
            end

            private

            # SqlBypass in place of the model: SQL by hand, as the published comparison had it.
            def by_hand
              @bypass = true
            end
          end

          # @return [Symbol]
          def name
            :active_record_store
          end

          # @return [Array<String>]
          def definitions
            [File.expand_path("../definitions/active_record_store.rb", __dir__)]
          end

          # Makes the table: the one of the gem's generator, or the one that SqlBypass makes for itself.
          # @return [void]
          # @raise [Unavailable]
          def ready
            self.class.bypass? ? bypass : model.table_name = table
            create unless connection.table_exists?(table)
          rescue ActiveRecord::ActiveRecordError => error
            raise Unavailable, "its database does not answer: #{error.message.lines.first.to_s.strip}"
          end

          # Many rows at once, as the store itself would write them one by one.
          # @return [Array<String>]
          def fill(_stack, numbers)
            type = ActionDispatch::Session::ActiveRecordStore.session_class
            ids = numbers.map { Rack::Session::SessionId.new(SecureRandom.hex(16)) }
            rows = ids.zip(numbers).map do |id, number|
              [id.private_id, type.serialize(Stack.values(number))].map { |value| connection.quote(value) }
            end
            insert(rows)
            ids.map { |id| "#{Stack::KEY}=#{id.public_id}" }
          end

          # @return [Hash{Symbol=>Object}]
          def recorded
            { store: name, session_class: ActionDispatch::Session::ActiveRecordStore.session_class.name,
              server: connection.select_value("SELECT VERSION()") }
          end

          private

          def model
            ActiveRecord::SessionStore::Session
          end

          def connection
            OwnConnection.current
          end

          def bypass
            type = ActiveRecord::SessionStore::SqlBypass
            type.singleton_class.prepend(OwnConnection)
            type.table_name = table
            ActionDispatch::Session::ActiveRecordStore.session_class = type
          end

          def insert(rows)
            now = ["CURRENT_TIMESTAMP"] * (self.class.bypass? ? 0 : 2)
            columns = ["session_id", "data", *%w[created_at updated_at].first(now.size)]
            values = rows.map { |row| "(#{[*row, *now].join(", ")})" }
            connection.execute("INSERT INTO #{table} (#{columns.join(", ")}) VALUES #{values.join(", ")}")
          end

          # Rows and their twins are in one database.
          def table
            @table ||= "sessions_#{SecureRandom.hex(4)}"
          end

          def create
            bypass = self.class.bypass?
            connection.create_table(table) do |columns|
              columns.string :session_id, null: bypass, limit: 255
              columns.text :data
              columns.timestamps unless bypass
            end
            connection.add_index(table, :session_id, unique: true)
            connection.add_index(table, :updated_at) unless bypass
          end
        end
      end
    end
  end
end
