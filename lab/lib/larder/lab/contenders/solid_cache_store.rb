# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # The base of the contenders on Solid Cache: the smallest real Rails application with it, its installer's schema
      # and options, and nothing of Action Pack or any other framework. It boots before processes are forked, as
      # `preload_app!` of Puma has it, or in the process that measures; then each process gives it a database and a
      # cache. A subclass has a {#database}, and its ADAPTER.
      class SolidCacheApplication < Contender
        declares gems: { "activerecord" => nil, "railties" => nil, "solid_cache" => ">= 1.0" }

        # What `rails new` configures.
        MINIMUM_POOL = 5

        class << self
          # Nothing of a suite: Active Record is not loaded before the application has configured it.
          def preload(_suite)
            boot
          rescue LoadError
            nil # {#open} says so
          end

          # Loads all code and configures it. Opens no connection, and has no file of a configuration.
          def boot
            load_rails
            return if Rails.application

            Class.new(Rails::Application) do
              config.root = Dir.pwd
              config.load_defaults(Rails.gem_version.segments.first(2).join(".").to_f)
              config.eager_load = true
              config.secret_key_base = "the lab signs nothing"
              config.logger = Logger.new(IO::NULL, level: Logger::INFO)
              config.cache_store = :null_store
              # A Class.new has no name to derive one from.
              def self.name = "LarderLabApplication"
            end
            Rails.application.initialize!
          end

          private

          def load_rails
            ENV.update("RAILS_ENV" => "production", "DATABASE_URL" => "#{self::ADAPTER}:none")
            require "rails"
            require "active_record/railtie"
            require "active_job/railtie"
            require "solid_cache"
          end
        end

        private

        def load_code
          self.class.boot
          connect
          define_schema
        end

        # In place of the database that the application was configured with.
        def connect = ActiveRecord::Base.establish_connection(database)

        # load_defaults has chosen it already.
        def use_current_format; end

        def open_store
          Rails.cache = lookup(:solid_cache_store, { max_size: size, namespace: "production",
                                                     error_handler: method(:fail_loudly) }).tap(&:setup!)
          recorded.update(recorded_database)
          Rails.cache
        end

        def pool
          { (Rails.gem_version >= Gem::Version.new("8.1") ? :max_connections : :pool) => [threads, MINIMUM_POOL].max }
        end

        # Loads the installer's own file, unless another process has made the table.
        def define_schema
          return if ActiveRecord::Base.with_connection { |connection| connection.table_exists?("solid_cache_entries") }

          ActiveRecord::Schema.verbose = false
          load SolidCache::Engine.root.join("lib/generators/solid_cache/install/templates/db/cache_schema.rb")
        end

        def ask_database(query) = ActiveRecord::Base.with_connection { |connection| connection.select_value(query) }
      end

      # Solid Cache on SQLite: a database file with the pragmas that Rails itself sets (WAL and the rest).
      #
      # Before Rails 8 a thread waits for SQLite's lock without letting others run, the one that holds it included, so
      # five threads soon end in "database is locked". There the lab waits as Rails 8 does ({RailsEightWaiting}).
      class SolidCacheStore < SolidCacheApplication
        named "solid_cache", "Solid Cache on SQLite, as `rails new` configures it", gems: { "sqlite3" => nil },
                                                                                    bundle: "solid_cache"

        ADAPTER = "sqlite3"

        # Waits for a locked database in Rails 7 as Rails 8.0 does. The busy handler sleeps in Ruby, so that other
        # threads run in the meantime. Transactions lock at once: one that reads first and then writes would fail
        # without waiting if another thread, such as the one that deletes old entries, has written since.
        module RailsEightWaiting
          # @return [void]
          def begin_db_transaction
            log("begin immediate transaction", "TRANSACTION") do
              with_raw_connection(allow_retry: true, materialize_transactions: false) do |connection|
                connection.transaction(:immediate).tap { verified! }
              end
            end
          end

          private

          def configure_connection
            super
            limit = self.class.type_cast_config_to_integer(@config[:timeout]) / 1000.0
            deadline = nil
            @raw_connection.busy_handler do |count|
              now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
              deadline = now + limit if count.zero?
              sleep(0.001) unless count.zero?
              now <= deadline
            end
          end
        end

        private

        # What `rails new` writes into config/database.yml.
        def database = { adapter: ADAPTER, **pool, timeout: 5000, database: File.join(dir, "production_cache.sqlite3") }

        def recorded_database = { database: database, pragmas: pragmas, waiting: @waiting }.compact

        def connect
          if Rails.gem_version < Gem::Version.new("8.0")
            ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend RailsEightWaiting }
            @waiting = "busy handler and immediate transactions of Rails 8.0"
          end
          super
        end

        def pragmas
          names = %w[journal_mode synchronous mmap_size journal_size_limit cache_size]
          names.to_h { |name| [name, ask_database("PRAGMA #{name}")] }
        end
      end
    end
  end
end
