# frozen_string_literal: true

# The smallest real Rails application with Solid Cache, on SQLite, in this process. It is made once, by the first test
# that asks for it.

require "rails"
require "active_record/railtie"
require "active_job/railtie"
require "solid_cache"
require "tmpdir"

module SolidCacheApplication
  module_function

  # @return [Array] what `config.cache_store` takes
  def cache_store
    boot unless Rails.application
    SolidCache::Entry.delete_all
    [:solid_cache_store, { expiry_method: :job }]
  end

  def boot
    root = Dir.mktmpdir("larder-test-solid-cache")
    Minitest.after_run { FileUtils.rm_rf(root) }
    FileUtils.mkdir_p(File.join(root, "config"))
    File.write(File.join(root, "config/database.yml"), JSON.generate(Rails.env => {
                                                                       adapter: "sqlite3", database: File.join(root,
"cache.sqlite3"), timeout: 5000
                                                                     }))
    make_application(root).initialize!
    ActiveRecord::Schema.verbose = false
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
    ActiveRecord::Schema.define(version: 1) do
      create_table "solid_cache_entries" do |table|
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
