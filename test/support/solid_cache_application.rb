# frozen_string_literal: true

# The smallest real Rails application with Solid Cache in this process, on SQLite, or on a server for a while. It is
# made once, by the first test that asks for it.

require "rails"
require "active_record/railtie"
require "active_job/railtie"
require "solid_cache"
require "tmpdir"

module SolidCacheApplication
  module_function

  # @param server [String, nil] the URL of a PostgreSQL or MariaDB as its endpoint has it; nil: SQLite
  # @return [Array] what `config.cache_store` takes
  def cache_store(server = nil)
    boot unless Rails.application
    connect(server) unless @server == server
    SolidCache::Entry.delete_all
    [:solid_cache_store, { expiry_method: :job }]
  end

  # Solid Cache remembers how a database quotes names, and its types.
  def connect(server)
    @server = server
    SolidCache::Record.establish_connection(server ? configuration(server) : @sqlite)
    [nil, "solid_cache_entries"].each { |name| SolidCache::Entry.table_name = name }
    SolidCache::Entry.instance_variable_set(:@select_sql, nil)
    load_schema
    SolidCache::Entry.reset_column_information
  end

  # In a second the server has to answer.
  def configuration(server)
    return { adapter: "postgresql", url: server, connect_timeout: 1 } if server.start_with?("postgresql:")

    require "trilogy"
    socket = server[/socket=(.*)/, 1]
    database = Trilogy.new(socket: socket, username: "root")
    database.query("CREATE DATABASE IF NOT EXISTS cache")
    database.close
    { adapter: "trilogy", socket: socket, username: "root", database: "cache", connect_timeout: 1, read_timeout: 1,
      write_timeout: 1 }
  end

  def boot
    root = Dir.mktmpdir("larder-test-solid-cache")
    Minitest.after_run { FileUtils.rm_rf(root) }
    FileUtils.mkdir_p(File.join(root, "config"))
    @sqlite = { adapter: "sqlite3", database: File.join(root, "cache.sqlite3"), timeout: 5000 }
    File.write(File.join(root, "config/database.yml"), JSON.generate(Rails.env => @sqlite))
    make_application(root).initialize!
    load_schema
  end

  def make_application(root)
    Class.new(Rails::Application) do
      config.root = root
      config.load_defaults(Rails.gem_version.segments.first(2).join(".").to_f)
      config.eager_load = false
      config.secret_key_base = "test" * 10
      config.logger = Logger.new(nil)
      config.active_support.report_deprecations = false
      def self.name = "SolidCacheTestApplication"
    end
  end

  # As the gem's installer has it.
  def load_schema
    SolidCache::Record.connection_pool.with_connection do |connection|
      connection.create_table "solid_cache_entries", if_not_exists: true do |table|
        table.binary "key", limit: 1024, null: false
        table.binary "value", limit: 536_870_912, null: false
        table.datetime "created_at", null: false
        table.integer "key_hash", limit: 8, null: false
        table.integer "byte_size", limit: 4, null: false
        table.index ["key_hash"], unique: true
      end
    end
  end
end
