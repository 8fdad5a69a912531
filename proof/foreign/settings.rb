# frozen_string_literal: true

# The caches of a copy of an application; for its sessions see sessions.rb. It is copied to config/foreign_settings.rb
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

  path = File.join(directory, "cache.larder")
  config.cache_store = :larder_store, path, foreign.fetch(:cache) if foreign.fetch(:side) == "larder"

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
