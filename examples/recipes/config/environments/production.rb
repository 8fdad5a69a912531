# frozen_string_literal: true

# The mode that the demonstration and the lab run in: over plain HTTP on loopback.

Rails.application.configure do
  config.eager_load = true
  config.enable_reloading = false
  config.consider_all_requests_local = false
  config.action_controller.perform_caching = true
  config.log_level = :warn
end
