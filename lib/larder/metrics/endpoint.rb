# frozen_string_literal: true

# The Rack side of a page that a monitoring system reads.

require_relative "../web/access"

module Larder
  class Metrics
    # For a class with `@access`, see {access}, and the method `answer`. Needs no gem: a Rack application is an object
    # that answers to `call`.
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
        case @access.refusal(env)
        when :hidden then return response(404, TEXT, "Not Found\n", hiding)
        when :unauthorized
          return response(401, TEXT, "Unauthorized\n", "www-authenticate" => @access.challenge)
        end

        case env["REQUEST_METHOD"]
        when "GET" then answer(env)
        when "HEAD" then answer(env).tap { |response| response[2] = [] }
        else response(405, TEXT, "Method Not Allowed\n", "allow" => "GET, HEAD")
        end
      end

      private

      # Rails goes on to later routes, and ends with its own page of what is not found.
      def hiding
        { "x-cascade" => "pass" }
      end

      # @param given [Hash] options of `initialize` that it does not name
      # @return [Web::Access]
      def access(given)
        others = method(:initialize).parameters.filter_map { |kind, name| name if kind == :key }
        Web::Access.new("a page of metrics or health", given, guide: "docs/guides/metrics.md", others: others)
      end

      def response(status, type, body, more = {})
        [status, { "content-type" => type, "cache-control" => "no-store", **more }, [body]]
      end
    end
  end
end
