# frozen_string_literal: true

# Records what a server of an application asks of its cache. It is copied to config/initializers/foreign_record.rb of
# each copy, and does nothing unless the life that starts the server names a file for the trace.

if ENV["FOREIGN_RECORD"]
  require ENV.fetch("FOREIGN_RECORDER")

  Rails.application.config.after_initialize { Larder::Lab.record(ENV.fetch("FOREIGN_RECORD"), seconds: 86_400) }
end
