# frozen_string_literal: true

# Notes which lines of a Rails application configure the cache and the sessions, so that a warning can name them: Rails
# creates both later, in its own code. Marks web requests, and makes Rails answer with a 503 if sessions cannot be read
# or stored. Attaches the log of Larder's own events.

require "larder/bytes/application"
require "rails/railtie"

module Larder
  # Loaded with Larder if Rails is loaded.
  class Railtie < Rails::Railtie
    # Overrides two methods of the application's configuration.
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

    # Temporary failures that the request did not cause.
    UNAVAILABLE = { "Larder::OpenError" => :service_unavailable,
                    "Larder::DamagedError" => :service_unavailable,
                    "Larder::Sessions::NoRoomError" => :service_unavailable,
                    "Larder::Sessions::UnavailableError" => :service_unavailable }.freeze
    private_constant :UNAVAILABLE

    # `config.larder.log_events`: true, false, or nil: as the level of the log is.
    config.larder = ActiveSupport::OrderedOptions.new

    config.before_configuration do |application|
      application.config.extend(Noting)
      pages = application.config.action_dispatch if application.config.respond_to?(:action_dispatch)
      pages.rescue_responses = UNAVAILABLE.merge(pages.rescue_responses) if pages
      Larder.announce_session_store # Larder may have been loaded before Action Pack
    end

    # Before all other middleware, which may use the cache too.
    initializer "larder.web_request", before: :build_middleware_stack do |application|
      application.config.middleware.unshift(WebRequest)
    end

    # A view's read takes a lease for the write that follows. If the view raises in between, the request ends the lease.
    # What is to be refreshed is computed after the response. Also jobs and scripts are pieces of work of the executor.
    initializer "larder.requests" do |application|
      application.executor.to_run do
        next unless defined?(Store::Flights)

        Store::Flights.begin_work
        Store::Refreshes.wait if WebRequest.current?
      end
      application.executor.to_complete do
        next unless defined?(Store::Flights)

        Store::Flights.end_work
        Store::Refreshes.begin_waiting
        cache = Rails.cache
        cache.keep_statistics if cache.is_a?(ActiveSupport::Cache::LarderStore)
      end
    end

    # The level of the log may be set by the application's initializers.
    config.after_initialize do |application|
      wanted = application.config.larder.log_events
      unless [true, false, nil].include?(wanted)
        raise ::ArgumentError, "config.larder.log_events is #{wanted.inspect}; it takes true, false, or nil for the " \
                               "level of the log"
      end
      next unless wanted.nil? ? ::Rails.logger&.debug? : wanted

      require "larder/rails/log_subscriber"
      LogSubscriber.attach_to(:larder)
    end
  end
end
