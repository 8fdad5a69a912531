# frozen_string_literal: true

# Proves that a form was sent from a page of the dashboard, without sessions: a random text is in a cookie, and a
# signature of it in the form.

require "openssl"
require "securerandom"

module Larder
  class Dashboard
    # The token of forms. A browser sends the cookie with requests of the dashboard's own pages only, and a page of
    # another origin cannot make the signature.
    # @api private
    class FormToken
      COOKIE = "larder_dashboard"
      FIELD = "token"
      # The random text.
      NONCE = /\A\h{32}\z/
      # The beginning of a cache file, which has its random id; only its owner reads it.
      HEAD = 4096
      private_constant :NONCE, :HEAD

      # @param request [Rack::Request]
      # @param source [Source]
      def initialize(request, source)
        @request = request
        @source = source
      end

      # @return [String] for the form
      def value
        @asked = true
        signature(nonce)
      end

      # @param given [String] of the form
      # @return [String, nil] why the form is refused; nil: it is not
      def objection(given)
        return "It was sent from another site." unless same_site?
        return "The browser sent no cookie of this page." unless sent_nonce
        return if Rack::Utils.secure_compare(signature(sent_nonce), given)

        "It is too old, or the cache was replaced since."
      end

      # @return [String, nil] the header that sets the cookie; nil: the browser has it, or needs none
      def cookie
        return unless @asked && sent_nonce.nil?

        parts = ["#{COOKIE}=#{nonce}", "path=#{@request.script_name.empty? ? "/" : @request.script_name}", "HttpOnly",
                 "SameSite=Strict"]
        parts << "Secure" if @request.ssl?
        parts.join("; ")
      end

      private

      def nonce
        @nonce ||= sent_nonce || SecureRandom.hex(16)
      end

      def sent_nonce
        sent = @request.cookies[COOKIE]
        sent if sent.is_a?(String) && NONCE.match?(sent.b)
      end

      def signature(nonce)
        OpenSSL::HMAC.hexdigest("SHA256", secret, "larder dashboard form #{nonce}")
      end

      # Rails' secret, or one that all processes with the file have.
      def secret
        rails = Rails.application if defined?(Rails) && Rails.respond_to?(:application)
        return rails.key_generator.generate_key("larder dashboard", 32) if rails.respond_to?(:key_generator)

        Digest::SHA256.digest(File.binread(@source.cache.path, HEAD))
      end

      # Browsers say where a form comes from, by one of two headers or both.
      def same_site?
        fetched = @request.get_header("HTTP_SEC_FETCH_SITE")
        return fetched == "same-origin" if fetched

        origin = @request.get_header("HTTP_ORIGIN")
        origin.nil? || origin == @request.base_url
      end
    end
  end
end
