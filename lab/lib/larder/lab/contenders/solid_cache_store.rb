# frozen_string_literal: true

require_relative "solid_cache/application"

module Larder
  module Lab
    module Contenders
      # Solid Cache on SQLite: a database file with the pragmas that Rails itself sets (WAL and the rest).
      #
      # Before Rails 8 a thread waits for SQLite's lock without letting others run, the one that holds it included, so
      # five threads soon end in "database is locked". There the lab waits as Rails 8 does ({RailsEightWaiting}).
      class SolidCacheStore < SolidCacheApplication
        named "solid_cache", "Solid Cache on SQLite, as `rails new` configures it"
        needs_gem "sqlite3"
        bundled_apart "solid_cache"

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
