# frozen_string_literal: true

# The sessions of a copy of an application. It is copied to config/initializers/zz_foreign_sessions.rb there: the last
# initializer, because applications may choose their sessions in one. See settings.rb for config/foreign.json.

require "json"

foreign = JSON.parse(File.read(Rails.root.join("config/foreign.json")), symbolize_names: true)

if foreign.fetch(:side) == "larder"
  options = foreign.fetch(:cookie).merge(foreign.fetch(:sessions))
  [:same_site, :serializer].each { |name| options[name] &&= options[name].to_sym } # JSON has no Symbols
  key = foreign.fetch(:user_key)
  options[:user] = ->(session) { session[key] } if key
  file = File.join(foreign.fetch(:directory), "sessions.larder")
  Rails.application.config.session_store :larder_store, file: file, ephemeral: true, **options
end
