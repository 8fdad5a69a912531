# frozen_string_literal: true

require "securerandom"
require "larder/cli/registry"
require_relative "row"

module Larder
  module Lab
    module Sessions
      # The session stores that are compared, by the names users type: how an application would configure each, and what
      # it needs beforehand.
      module Stores
        extend CLI::Registry
        holds "session store"
      end

      # A session store as `config.session_store NAME, **OPTIONS` names it. A subclass says its name by `configured`,
      # its options by `settings(url)`, and what must be done beforehand by `connect`.
      class Store < Row
        # Seconds that sessions live in a server of the user's.
        EXPIRY = 3600
        # Connections of a pool, where there is one: as many as Rails has by default.
        POOL = 5

        declares registry: Stores, bundle: "sessions"

        class << self
          # @return [Symbol] as `config.session_store` takes it
          def middleware = facts[:middleware]

          private

          def configured(name) = facts[:middleware] = name
        end

        # An {Application} and {Visitors}, after {#open}.
        attr_reader :application, :visitors

        # So many sessions must be there.
        def prove(values) = visitors.prove(values)

        # @return [Hash{Symbol=>Object}] its own options, plain data
        def options = settings(endpoint && endpoint["url"])

        # @return [Hash{Symbol=>Object}] for the record, without secrets
        def recorded = { store: self.class.middleware, options: settings(endpoint && shown(endpoint["url"])) }

        # Does what must be done once Rails is loaded and before the first request.
        def ready; end

        # @return [Boolean] whether a session is kept anywhere but with its user
        def keeps? = true

        # Begins sessions, each by a request, and answers their cookies. Overridden where there is a shorter way.
        def fill(stack, users) = users.map { |user| stack.begin_session(user) }

        private

        def settings(_url) = {}

        def connect
          activate("actionpack", [">= 7.1"])
          require "action_dispatch"
        end

        def load
          require_relative "application"
          @application = Application.new(self, dir, @companion)
          @visitors = Visitors.new(self, application.stack)
        end

        # Prefix of keys in a server of the user's.
        def space = @space ||= "larder-lab:#{SecureRandom.hex(4)}:"
      end

      module Stores
        # Larder's sessions, in a file of their own.
        class LarderStore < Store
          named "larder", "Larder's sessions: one mapped file (:larder_store)"
          configured :larder_store

          private

          def settings(_url) = { file: File.join(dir, "sessions.larder"), ephemeral: true }
        end

        # Rails' default: the session is its encrypted cookie, and nothing is kept.
        class CookieStore < Store
          named "cookie", "the cookie itself, encrypted (:cookie_store, Rails' default)"
          configured :cookie_store

          # (see Store#keeps?)
          def keeps? = false
        end

        # memcached through ActionDispatch's MemCacheStore, which is dalli's Rack::Session::Dalli.
        class MemcachedStore < Store
          named "memcached", "memcached: :mem_cache_store, by dalli", gems: { "dalli" => ">= 3.0.1" },
                                                                      server: "memcached"
          configured :mem_cache_store

          private

          # A pool, because its own client serves one thread at a time.
          def settings(url)
            { memcache_server: url, pool_size: POOL, **(apart? ? { namespace: space, expire_after: EXPIRY } : {}) }
          end

          # Dalli's sessions take a server that is not there for an empty one.
          def connect
            super
            require "dalli"
            client = Dalli::Client.new(endpoint["url"])
            raise Unavailable, "no answer from #{shown(endpoint["url"])}" unless client.stats.values.all?

            client.close
          end
        end

        # CacheStore over a cache of its own, which `cache(url)` names.
        class InCache < Store
          configured :larder_lab_cache_store

          private

          def settings(url) = { within: cache(url), **(apart? ? { expire_after: EXPIRY } : {}) }

          def connect
            super
            require_relative "application"
          end
        end

        # CacheStore over files.
        class FileStore < InCache
          named "file", "files: CacheStore over :file_store, a file for each"

          private

          def cache(_url) = ["file_store", File.join(dir, "files")]
        end

        # CacheStore over redis_cache_store: both are Rails' own and tested with each Rails, and sessions get the client
        # and the pool that its cache has. redis-session-store and redis-actionpack bring clients or stores beside it.
        class RedisStore < InCache
          named "redis", "Redis: CacheStore over :redis_cache_store", gems: { "redis" => ">= 4.0.1" }, server: "redis"

          private

          def cache(url) = ["redis_cache_store", { url: url, **(apart? ? { namespace: space } : {}) }]

          # Rails would take a server that is not there for an empty one.
          def connect
            super
            require "redis"
            ::Redis.new(url: endpoint["url"], reconnect_attempts: 0).tap(&:ping).close
          rescue ::Redis::BaseError => error
            raise no_answer(error)
          end
        end

        # activerecord-session_store, in the application's database unless a subclass connects to another one.
        class InSql < Store
          declares gems: { "activerecord-session_store" => ">= 2.0" }
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
          named "activerecord-mariadb", "activerecord-session_store on MariaDB, a model",
                gems: { "trilogy" => ">= 2.4" }

          # SqlBypass in place of the model, as the published comparison had it.
          row("sql-mariadb", "activerecord-session_store's SqlBypass on MariaDB: SQL by hand, as was published") do
            private

            def by_hand? = true
          end
        end

        # PostgreSQL as initdb leaves it.
        class PostgresqlStore < InSql
          named "activerecord-postgresql", "activerecord-session_store on PostgreSQL, a model",
                gems: { "pg" => ">= 1.1" }, server: "postgresql", bundle: "sessions_postgresql"

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
