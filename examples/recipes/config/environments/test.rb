# frozen_string_literal: true

# For tests: as production, but an error that no page is made for is raised to the test.

Rails.application.configure do
  config.eager_load = true
  config.enable_reloading = false
  config.consider_all_requests_local = true
  config.action_controller.perform_caching = true
  config.action_dispatch.show_exceptions = :rescuable
  config.log_level = :warn
  config.active_support.deprecation = :raise
end
