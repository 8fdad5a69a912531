# frozen_string_literal: true

# The Rack side of a page that a monitoring system reads.

require_relative "access"

module Larder
  class Metrics
    # For a class with `@access` and the method `answer`. Needs no gem: a Rack application is what answers to `call`.
    # @api private
    module Endpoint
      TEXT = "text/plain; charset=utf-8"
      private_constant :TEXT

      # Makes a class itself an application, without options.
      module ForClass
        # @param env [Hash] of a Rack request
        # @return [Array] status, headers, body
        def call(env)
          (@without_options ||= new).call(env)
        end
      end

      # @param env [Hash] of a Rack request
      # @return [Array] status, headers, body
      def call(env)
        return denied unless @access.allowed?(env)

        case env["REQUEST_METHOD"]
        when "GET" then answer(env)
        when "HEAD" then answer(env).tap { |response| response[2] = [] }
        else response(405, TEXT, "Method Not Allowed\n", "allow" => "GET, HEAD")
        end
      end

      private

      # A page that is not open is not there. Only a password is asked for.
      def denied
        challenge = @access.challenge
        return response(404, TEXT, "Not Found\n") unless challenge

        response(401, TEXT, "Unauthorized\n", "www-authenticate" => challenge)
      end

      def response(status, type, body, more = {})
        [status, { "content-type" => type, "cache-control" => "no-store", **more }, [body]]
      end
    end
  end
end
