# frozen_string_literal: true

# Decides who may see a dashboard. Without a rule, it is seen in development only.

require "digest"
require_relative "../bytes/application"
require_relative "response"

module Larder
  class Dashboard
    # All rules that are given must hold.
    # @api private
    class Access
      # The user of the password.
      USER = "larder"
      NO_RULE = "larder: the dashboard answers 404 outside of development until access is given: " \
                "Larder::Dashboard.allow { |request| ... } in an initializer, or " \
                "Larder::Dashboard.new(password: ...), see docs/guides/dashboard.md"
      NO_PASSWORD = "larder: the dashboard answers 404, as its password: is nil or empty"
      private_constant :NO_RULE, :NO_PASSWORD

      # @param settings [Settings]
      def initialize(settings)
        @settings = settings
        @logged = {}
      end

      # @param request [Rack::Request]
      # @return [Array, nil] nil: its sender may see the dashboard; else the answer
      def refusal(request)
        return hidden(NO_RULE) unless ruled? || development?
        return hidden(NO_PASSWORD) if @settings.asks_password? && @settings.password.nil?
        return Response.hidden unless rules.all? { |rule| holds?(rule, request) }

        Response.unauthorized if @settings.password && !knows_password?(request)
      end

      private

      def ruled?
        @settings.allow || @settings.base_controller || @settings.asks_password? || Dashboard.rule
      end

      # A Ruby program without Rails is in development only where a variable says so.
      def development?
        return Rails.env.development? if defined?(Rails) && Rails.respond_to?(:env)

        ::Larder::Application.named_environment == "development"
      end

      def rules
        [Dashboard.rule, @settings.allow].compact - [:route]
      end

      def holds?(rule, request)
        rule.call(request)
      rescue StandardError => error
        report(error)
        false
      end

      def report(error)
        ::Larder::Application.log("larder: the dashboard answers 404, as the block that says who may see it raised " \
                                  "#{error.class}: #{error.message}")
        return unless ActiveSupport.respond_to?(:error_reporter)

        ActiveSupport.error_reporter&.report(error, handled: true, source: "larder.dashboard")
      end

      # Compares both always, in a time that does not depend on where they differ.
      def knows_password?(request)
        user, password = credentials(request)
        [same?(user, USER), same?(password, @settings.password)].all?
      end

      def credentials(request)
        scheme, encoded = request.get_header("HTTP_AUTHORIZATION").to_s.split(" ", 2)
        return ["", ""] unless scheme.to_s.casecmp?("basic")

        user, password = encoded.to_s.unpack1("m").split(":", 2)
        [user.to_s, password.to_s]
      end

      def same?(given, wanted)
        Rack::Utils.secure_compare(Digest::SHA256.digest(given.b), Digest::SHA256.digest(wanted.b))
      end

      def hidden(message)
        ::Larder::Application.log(message) unless @logged[message]
        @logged[message] = true
        Response.hidden
      end
    end
  end
end
