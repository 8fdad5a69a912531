# frozen_string_literal: true

# The application that the tests boot: a shop with categories of products. It is copied to a directory of its own, which
# is its Rails.root; cache.rb beside this file, where the cache is configured, is written by each test.

require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require "active_support/core_ext/numeric"
require "larder" # as Bundler.require does

class Shop < Rails::Application
  config.root = File.expand_path("..", __dir__)
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = Rails.env.production?
  config.action_controller.perform_caching = true
  config.action_dispatch.show_exceptions = :rescuable
  config.active_record.maintain_test_schema = false
  config.active_support.deprecation = :raise
  config.hosts.clear
  config.logger = ActiveSupport::Logger.new(File.join(config.root, "log.txt"))
  config.secret_key_base = "0" * 64
end

require_relative "cache"
