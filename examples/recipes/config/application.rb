# frozen_string_literal: true

# The recipes application. Which parts of Rails it is made of and where its cache and its sessions are; nothing else is
# unusual. It boots under any Gemfile that has these parts, sqlite3 and larder.

require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require "active_support/core_ext/numeric"
require "larder"
require "action_dispatch/middleware/session/larder_store" # for whoever has loaded larder before Rails
require_relative "../lib/recipes"

Recipes.required_files.each { |file| require file }

module Recipes
  # Rails' own name for it is Rails.application.
  class Application < Rails::Application
    config.root = File.expand_path("..", __dir__)
    config.load_defaults Rails::VERSION::STRING.to_f

    # The two lines that this is an example of. RECIPES_CACHE_STORE and RECIPES_SESSION_STORE stand in for them.
    cache = [:larder_store, Recipes.storage("cache.larder"), { size: 64.megabytes, expires_in: 1.hour }]
    sessions = [:larder_store, { file: Recipes.storage("sessions.larder"), ephemeral: true }]

    config.cache_store = Recipes.store_from("RECIPES_CACHE_STORE") || cache
    name, options = Recipes.store_from("RECIPES_SESSION_STORE") || sessions
    config.session_store name, key: "_recipes", **options.to_h

    config.secret_key_base = Recipes.secret
    config.paths["log"] = Recipes.storage("log/#{Rails.env}.log")
    config.paths["tmp"] = Recipes.storage("tmp")

    # Its one style sheet is a route: what is not there need not be looked for on the disk before each page.
    config.public_file_server.enabled = false
    config.action_dispatch.default_headers["Content-Security-Policy"] =
      "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; " \
      "frame-ancestors 'none'"

    config.action_view.automatically_disable_submit_tag = false # there is no script that would heed it

    config.active_record.maintain_test_schema = false
    config.active_record.dump_schema_after_migration = false
  end
end
