# frozen_string_literal: true

# The settings of a copy of an application: its caches and its sessions. It is copied to config/foreign_settings.rb
# there and is loaded at the end of the environment's file; config/foreign.json says the side and its options.
#
#   { "side": "larder", "directory": "…", "cache": { … }, "sessions": { … }, "key": "_app_session" }
#
# "default" leaves the store as the application has it, "larder" replaces it. A test environment has no cache, so both
# sides get one there.

require "json"

foreign = JSON.parse(File.read(File.join(__dir__, "foreign.json")), symbolize_names: true)

Rails.application.configure do
  directory = foreign.fetch(:directory)
  if Rails.env.test?
    config.action_controller.perform_caching = true
    config.cache_store = :file_store, File.join(directory, "file-store")
  end

  if foreign.fetch(:side) == "larder"
    path = File.join(directory, "cache.larder")
    config.cache_store = :larder_store, path, foreign.fetch(:cache)
    cookie = foreign.fetch(:cookie)
    cookie[:same_site] &&= cookie[:same_site].to_sym # JSON has no Symbols
    key = foreign.fetch(:user_key)
    cookie[:user] = ->(session) { session[key] } if key
    sessions = foreign.fetch(:sessions)
    sessions[:serializer] &&= sessions[:serializer].to_sym
    config.session_store :larder_store, file: File.join(directory, "sessions.larder"), ephemeral: true, **cookie,
**sessions
  end

  # Caches that the application has in addition, which processes share on both sides.
  foreign.fetch(:more_caches).each do |name|
    options = foreign.fetch(:cache).merge(namespace: name)
    store = if foreign.fetch(:side) == "larder"
              [:larder_store, path,
               options]
            else
              [:file_store, File.join(directory, name)]
            end
    config.public_send(:"#{name}=", store)
  end
  # MORE
end
