# frozen_string_literal: true

# Owns what Larder does while a Rails application is configured: it notes which lines configure the cache and the
# sessions, so that a warning can name them (Rails makes both much later, by code of its own), and has Rails answer 503
# where sessions cannot be had or kept.

require "larder/application"
require "rails/railtie"

module Larder
  # Loaded with Larder where Rails is.
  class Railtie < Rails::Railtie
    # Before the methods of the application's configuration.
    module Noting
      # @api private
      def cache_store=(*)
        Application.note(:cache_store)
        super
      end

      # @api private
      def session_store(*given, **)
        Application.note(:session_store) unless given.empty?
        super
      end
    end
    private_constant :Noting

    # What is not the request's fault, and passes.
    UNAVAILABLE = { "Larder::OpenError" => :service_unavailable,
                    "Larder::DamagedError" => :service_unavailable,
                    "Larder::Sessions::NoRoomError" => :service_unavailable }.freeze
    private_constant :UNAVAILABLE

    config.before_configuration do |application|
      application.config.extend(Noting)
      pages = application.config.action_dispatch if application.config.respond_to?(:action_dispatch)
      pages.rescue_responses = UNAVAILABLE.merge(pages.rescue_responses) if pages
    end
  end
end
