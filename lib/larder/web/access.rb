# frozen_string_literal: true

# Decides who may see a page of Larder's: the dashboard, metrics, health.

require "digest"
require "openssl"
require_relative "../bytes/application"

module Larder
  # Parts of the Rack applications.
  module Web
    # These options open a page. All that are given must hold:
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
      SECRETS = %i[password token].freeze
      # Without Rails nothing else is a sign of development: a server may run without RACK_ENV.
      OPEN = "development"
      private_constant :SECRETS, :OPEN

      # @param page [String] in messages: "the dashboard"
      # @param given [Hash{Symbol=>Object}] of OPTIONS
      # @param guide [String] path of the document that describes them
      # @param rule [#call, nil] answers one more Proc as of `allow:`, or nil
      # @param others [Array<Symbol>] options of the page that are not among these, for messages
      # @raise [ArgumentError] names the option and what it takes
      def initialize(page, given = {}, guide:, rule: -> {}, others: [])
        @page = page
        @given = given
        @guide = guide
        @rule = rule
        refuse(others)
        @logged = {}
      end

      # Logs once why no request can see the page.
      #
      # @param env [Hash] of a Rack request
      # @return [Symbol, nil] nil: its sender may see the page; :hidden: the page must look as if it were not there;
      #   :unauthorized: a browser may ask its user for the password
      def refusal(env)
        return :hidden if closed? || !blocks.all? { |block| holds?(block, env) }

        if @given.key?(:password) then :unauthorized unless same?(basic(env), @given[:password])
        elsif @given.key?(:token) then :hidden unless same?(credentials(env, "bearer"), @given[:token])
        end
      end

      # @return [String] the header `www-authenticate`
      def challenge
        %(Basic realm="Larder", charset="UTF-8")
      end

      private

      def refuse(others)
        unknown, = @given.keys - OPTIONS
        raise ::ArgumentError, "unknown option #{unknown.inspect}; known: #{list(others + OPTIONS)}" if unknown
        raise ::ArgumentError, "give one of #{list(SECRETS)}, not both" if (SECRETS - @given.keys).empty?

        refuse_type
      end

      # A secret is not shown.
      def refuse_type
        allow = @given[:allow]
        unless allow.nil? || allow == :route || allow.respond_to?(:call)
          raise ::ArgumentError, "allow: #{allow.inspect} is neither :route nor a Proc that gets the request, as " \
                                 "->(request) { request.session[:admin] }"
        end

        name, value = @given.slice(*SECRETS).first
        return if value.nil? || value.is_a?(String)

        raise ::ArgumentError, "#{name}: is of #{value.class}; it takes a String"
      end

      def closed?
        name = @given.keys.find { |key| !@given[key].respond_to?(:call) && @given[key].to_s.strip.empty? }
        return log("as its #{name}: is nil or empty") if name
        return false if @given.any? || @rule.call || development?

        log("outside of development until #{list(OPTIONS).sub(/, (?=\S+\z)/, " or ")} opens it, see #{@guide}")
      end

      def log(reason)
        Application.log("larder: #{@page} answers 404, #{reason}") unless @logged[reason]
        @logged[reason] = true
      end

      def list(options)
        options.map { |option| "#{option}:" }.join(", ")
      end

      def development?
        in_rails = defined?(Rails) && Rails.respond_to?(:env)
        (in_rails ? Application.environment : Application.named_environment) == OPEN
      end

      def blocks
        [@rule.call, @given[:allow]].compact - [:route]
      end

      def holds?(block, env)
        block.call(request(env)) ? true : false
      rescue StandardError => error
        Application.log("larder: #{@page} answers 404, as the block that says who may see it raised " \
                        "#{error.class}: #{error.message}")
        reporter = ActiveSupport.error_reporter if defined?(ActiveSupport) && ActiveSupport.respond_to?(:error_reporter)
        reporter&.report(error, handled: true, source: "larder")
        false
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
      def same?(given, secret)
        return false unless given

        OpenSSL.fixed_length_secure_compare(Digest::SHA256.digest(given), Digest::SHA256.digest(secret))
      end
    end
  end
end
