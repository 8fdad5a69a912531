# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Solid Cache on SQLite, in the smallest real Rails application: its engine, its installer's schema and options,
      # and a database file with the pragmas that Rails itself sets (WAL and the rest). Neither Action Pack nor any
      # other framework is loaded.
      #
      # Before Rails 8 a thread waits for SQLite's lock without letting others run, the one that holds it included, so
      # five threads soon end in "database is locked". There the lab waits as Rails 8 does ({RailsEightWaiting}).
      class SolidCacheStore < Contender
        named "solid_cache", "Solid Cache on SQLite, as `rails new` configures it"
        needs_gem "sqlite3"
        needs_gem "activerecord"
        needs_gem "railties"
        needs_gem "solid_cache", ">= 1.0"
        bundled_apart "solid_cache"

        # The busy handler of Rails 8.0 for Rails 7: sleeps in Ruby, so that other threads run meanwhile.
        module RailsEightWaiting
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

        # What `rails new` configures.
        MINIMUM_POOL = 5

        private

        def load_code
          ENV["RAILS_ENV"] = "production"
          require "rails"
          require "active_record/railtie"
          require "active_job/railtie"
          require "solid_cache"
          boot
          define_schema
        end

        # load_defaults has chosen it already.
        def use_current_format; end

        def open_store
          @recorded = { store: :solid_cache_store, arguments: [store_options], database: database, pragmas: pragmas,
                        waiting: @waiting }.compact
          Rails.cache
        end

        def store_options
          { max_size: size, namespace: "production", **codecs }
        end

        # What `rails new` writes into config/database.yml.
        def database
          pool = Rails.gem_version >= Gem::Version.new("8.1") ? :max_connections : :pool
          { adapter: "sqlite3", pool => [threads, MINIMUM_POOL].max, timeout: 5000,
            database: File.join(dir, "production_cache.sqlite3") }
        end

        def boot
          write_configuration
          wait_as_rails_eight if Rails.gem_version < Gem::Version.new("8.0")
          options = store_options
          root = dir
          Class.new(Rails::Application) do
            config.root = root
            config.load_defaults(Rails.gem_version.segments.first(2).join(".").to_f)
            config.eager_load = true
            config.secret_key_base = "the lab signs nothing"
            config.logger = Logger.new(IO::NULL, level: Logger::INFO)
            config.cache_store = :solid_cache_store, options
            # A Class.new has no name to derive one from.
            def self.name = "LarderLabApplication"
          end
          Rails.application.initialize!
        end

        def wait_as_rails_eight
          ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend RailsEightWaiting }
          @waiting = "busy handler of Rails 8.0"
        end

        def write_configuration
          FileUtils.mkdir_p(File.join(dir, "config"))
          yaml = { "production" => database.transform_keys(&:to_s) }.to_yaml
          File.write(File.join(dir, "config", "database.yml"), yaml)
        end

        # As in the installer's db/cache_schema.rb. A second process finds it there.
        def define_schema
          return if ActiveRecord::Base.with_connection { |connection| connection.table_exists?("solid_cache_entries") }

          ActiveRecord::Schema.verbose = false
          ActiveRecord::Schema.define(version: 1) do
            create_table "solid_cache_entries", force: :cascade do |table|
              table.binary "key", limit: 1024, null: false
              table.binary "value", limit: 536_870_912, null: false
              table.datetime "created_at", null: false
              table.integer "key_hash", limit: 8, null: false
              table.integer "byte_size", limit: 4, null: false
              table.index ["byte_size"], name: "index_solid_cache_entries_on_byte_size"
              table.index %w[key_hash byte_size], name: "index_solid_cache_entries_on_key_hash_and_byte_size"
              table.index ["key_hash"], name: "index_solid_cache_entries_on_key_hash", unique: true
            end
          end
        end

        def pragmas
          names = %w[journal_mode synchronous mmap_size journal_size_limit cache_size]
          ActiveRecord::Base.with_connection do |connection|
            names.to_h { |name| [name, connection.select_value("PRAGMA #{name}")] }
          end
        end
      end
    end
  end
end
