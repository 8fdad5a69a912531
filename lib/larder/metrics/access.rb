# frozen_string_literal: true

# Decides who may see a page of Larder's: metrics, health.

require "digest"
require "openssl"
require_relative "../bytes/application"

module Larder
  class Metrics
    # One of these options opens a page:
    #
    # - `allow:` a Proc, which gets the request and answers whether it may; or `:route`, if the application's routes
    #   decide that
    # - `password:` of HTTP basic authentication, with any user name
    # - `token:` of `Authorization: Bearer`
    #
    # Without any of them the page is open in the environment "development" alone. An option that is nil or empty, as
    # an environment variable that is not set, opens it nowhere.
    # @api private
    class Access
      OPTIONS = %i[allow password token].freeze
      # Without Rails nothing else is a sign of development: a server may run without RACK_ENV.
      OPEN = "development"
      NO_OPTION = "larder: a page of metrics or health answers 404 outside of development until one of allow:, " \
                  "password: and token: opens it, see docs/guides/metrics.md"
      private_constant :OPEN, :NO_OPTION

      # @param given [Hash{Symbol=>Object}] of OPTIONS
      # @raise [ArgumentError] names the option and what it takes
      def initialize(given = {})
        refuse(given)
        @option, @value = given.first
        @value = @value.to_s unless @option == :allow
      end

      # @param env [Hash] of a Rack request
      # @return [Boolean] false also if no request can get the page, which is logged once
      def allowed?(env)
        return closed if @option ? @value.to_s.empty? : !development?

        case @option
        when nil then true
        when :allow then @value == :route || !!@value.call(request(env))
        when :password then same?(basic(env))
        when :token then same?(credentials(env, "bearer"))
        end
      end

      # @return [String, nil] what a browser is asked for; nil: the page is not there for it
      def challenge
        %(Basic realm="Larder", charset="UTF-8") if @option == :password && !@value.empty?
      end

      private

      def refuse(given)
        unknown = given.keys - OPTIONS
        raise ::ArgumentError, "unknown option #{unknown.first.inspect}; known: #{list(OPTIONS)}" if unknown.any?
        raise ::ArgumentError, "give one of #{list(given.keys)}, not #{given.size}" if given.size > 1

        allow = given[:allow]
        return if allow.nil? || allow == :route || allow.respond_to?(:call)

        raise ::ArgumentError, "allow: #{allow.inspect} is neither :route nor a Proc that gets the request, as " \
                               "->(request) { request.session[:admin] }"
      end

      def closed
        message = @option ? "larder: a page of metrics or health answers 404, as its #{@option}: is empty" : NO_OPTION
        Application.log(message) unless @logged
        @logged = true
        false
      end

      def list(options)
        options.map { |option| "#{option}:" }.join(", ")
      end

      def development?
        in_rails = defined?(Rails) && Rails.respond_to?(:env)
        (in_rails ? Application.environment : Application.named_environment) == OPEN
      end

      # Rails' own request knows its sessions, encrypted cookies and proxies.
      def request(env)
        return ActionDispatch::Request.new(env) if defined?(ActionDispatch::Request)

        require "rack"
        Rack::Request.new(env)
      end

      def basic(env)
        credentials(env, "basic")&.unpack1("m")&.split(":", 2)&.last
      end

      def credentials(env, scheme)
        given, rest = env["HTTP_AUTHORIZATION"].to_s.b.split(" ", 2)
        rest if given&.downcase == scheme
      end

      # Takes the same time whatever is given.
      def same?(given)
        return false unless given

        OpenSSL.fixed_length_secure_compare(Digest::SHA256.digest(given), Digest::SHA256.digest(@value))
      end
    end
  end
end
