# frozen_string_literal: true

# For work on the application: code is loaded anew when it changes, and pages are rendered each time.

Rails.application.configure do
  config.eager_load = false
  config.enable_reloading = true
  config.consider_all_requests_local = true
  config.action_controller.perform_caching = false
end
