# frozen_string_literal: true

# The answers of a dashboard: status, headers, body.

module Larder
  class Dashboard
    # Makes answers of Rack, with headers that hold for all pages. Names of headers are in lower case, as Rack 3 wants
    # them; Rack 2 takes them too.
    # @api private
    module Response
      # Nothing comes from another host, and no element has a style or a script of its own.
      POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " \
               "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
      # "no-referrer" would make browsers send "Origin: null" with forms.
      HEADERS = {
        "content-security-policy" => POLICY,
        "x-content-type-options"  => "nosniff",
        "x-frame-options"         => "DENY",
        "referrer-policy"         => "same-origin"
      }.freeze
      private_constant :POLICY, :HEADERS

      module_function

      # @param body [String]
      # @param status [Integer]
      # @param more [Hash{String => String}] headers
      # @return [Array(Integer, Hash, Array<String>)]
      def page(body, status: 200, **more)
        answer(status, "text/html; charset=utf-8", body, "cache-control" => "no-store", **more)
      end

      # @param text [String]
      # @param status [Integer]
      # @return (see page)
      def plain(text, status:, **more)
        answer(status, "text/plain; charset=utf-8", "#{text}\n", "cache-control" => "no-store", **more)
      end

      # @param type [String] of the content
      # @param body [String] that never changes
      # @return (see page)
      def asset(type, body)
        answer(200, type, body, "cache-control" => "private, max-age=31536000, immutable")
      end

      # As if there were no dashboard: Rails goes on with its other routes, and answers with its own page.
      #
      # @return (see page)
      def hidden
        [404, { "content-type" => "text/plain; charset=utf-8", "cache-control" => "no-store", "x-cascade" => "pass" },
         ["Not Found\n"]]
      end

      # @param challenge [String] of Web::Access
      # @return (see page)
      def unauthorized(challenge)
        plain("A password is needed", status: 401, "www-authenticate" => challenge)
      end

      # @param path [String]
      # @return (see page)
      def redirect(path)
        plain("See #{path}", status: 303, "location" => path)
      end

      def answer(status, type, body, more)
        [status, { "content-type" => type, "content-length" => body.bytesize.to_s, **HEADERS, **more }, [body]]
      end
      private_class_method :answer
    end
  end
end
