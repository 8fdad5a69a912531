# frozen_string_literal: true

module Larder
  module Lab
    module Sessions
      module Stores
        # activerecord-session_store, in the application's database unless a subclass connects to another one.
        class InSql < Store
          needs_gem "activerecord-session_store", ">= 2.0"
          configured :active_record_store

          # Makes the table: the one of the gem's generator, or the one that SqlBypass makes for itself. Rows and their
          # twins are in one database.
          def ready
            @table = model.table_name = "sessions_#{SecureRandom.hex(4)}"
            bypass if by_hand?
            create
          rescue ActiveRecord::ActiveRecordError => error
            raise no_answer(error)
          end

          # Many rows at once, as the store itself would write them one by one.
          def fill(_stack, users)
            ids = users.map { Rack::Session::SessionId.new(SecureRandom.hex(16)) }
            model.insert_all!(ids.zip(users).map do |id, user|
              { session_id: id.private_id, data: type.serialize(Population.values(user)) }
            end)
            ids.map { |id| "#{Stack::KEY}=#{id.public_id}" }
          end

          def recorded
            { store: self.class.middleware, session_class: type.name,
              server: connection.select_value("SELECT VERSION()") }
          end

          private

          def connect
            super
            require "activerecord/session_store"
          end

          # Whether sessions are read and written by hand-written SQL.
          def by_hand? = false

          def model = ActiveRecord::SessionStore::Session

          def type = ActionDispatch::Session::ActiveRecordStore.session_class

          def connection = model.connection

          # SqlBypass would keep its first connection when the application has others.
          def bypass
            sql = ActiveRecord::SessionStore::SqlBypass
            sql.singleton_class.prepend(Module.new { def connection = ActiveRecord::SessionStore::Session.connection })
            sql.table_name = @table
            ActionDispatch::Session::ActiveRecordStore.session_class = sql
          end

          def create
            connection.create_table(@table) do |columns|
              columns.string :session_id, null: by_hand?, limit: 255
              columns.text :data
              columns.timestamps unless by_hand?
            end
            connection.add_index(@table, :session_id, unique: true)
            connection.add_index(@table, :updated_at) unless by_hand?
          end
        end

        # The gem's own defaults.
        class MariadbStore < InSql
          named "activerecord-mariadb", "activerecord-session_store on MariaDB, a model"
          needs_gem "trilogy", ">= 2.4"

          # SqlBypass in place of the model, as the published comparison had it.
          row("sql-mariadb", "activerecord-session_store's SqlBypass on MariaDB: SQL by hand, as was published") do
            private

            def by_hand? = true
          end
        end

        # PostgreSQL as initdb leaves it.
        class PostgresqlStore < InSql
          named "activerecord-postgresql", "activerecord-session_store on PostgreSQL, a model"
          needs_gem "pg", ">= 1.1"
          needs_server "postgresql"
          bundled_apart "sessions_postgresql"

          # (see InSql#ready)
          def ready
            model.establish_connection(**@database)
            super
          end

          private

          def connect
            super
            @database = own_place(Contenders::OwnSchema)
          end
        end
      end
    end
  end
end
