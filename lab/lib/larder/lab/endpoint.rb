# frozen_string_literal: true

# Describes a contender's server to it, and makes such a description from a URL. Connects to nothing.

require "uri"
require_relative "errors"

module Larder
  module Lab
    # Where a server listens: "url" for clients; "socket" (a path), or "host" and "port", for a proxy;
    # "private": whether the lab started it and may empty it; "pid" of a private one; "namespace" in use of one that is
    # not, so that several processes share it; "dir": directory of the files of a private one, in suites.
    # @api private
    module Endpoint
      # Parameters of a URL that name a Unix socket, or the directory of one.
      SOCKET_PARAMETERS = %w[socket host].freeze
      # Before a host and port without a scheme, so that they can be parsed.
      ANY = "any://"
      private_constant :ANY

      module_function

      def build(url:, socket: nil, host: nil, port: nil, private: false, pid: nil)
        { "url" => url, "socket" => socket, "host" => host, "port" => port, "private" => private, "pid" => pid }
      end

      # The place of a running server by its URL, as its client takes it: scheme://host:port/..., host:port, or a path.
      # `port` is the usual one of such servers.
      def given(url, port:)
        path = url.delete_prefix("unix://")
        return build(url: url, socket: path) if path.start_with?("/")

        uri = uri_of(url)
        socket = socket_of(uri, port)
        return build(url: url, socket: socket) if socket

        build(url: url, host: uri.host || "localhost", port: uri.port || port)
      rescue URI::Error
        build(url: url)
      end

      # A server with a Unix socket by way of another one, which passes on to it.
      def by_socket(given, socket) = given.merge("url" => given["url"].sub(given["socket"], socket), "socket" => socket)

      # A running server of the user's by way of something that passes on to it. Raises Unavailable where its URL has no
      # host that could be another.
      def by_way_of(given, host, port)
        uri = uri_of(given["url"])
        raise Unavailable, "nothing can stand before a Unix socket of yours: give host and port" unless uri.host

        uri.host = host
        uri.port = port
        build(url: uri.to_s.delete_prefix(ANY), host: host, port: port)
          .merge(given.slice("private", "namespace"))
      end

      def uri_of(url) = URI.parse(url.include?("://") ? url : "#{ANY}#{url}")

      # libpq takes the directory of a socket for a host.
      def socket_of(uri, port)
        parameters = URI.decode_www_form(uri.query.to_s).to_h
        path = parameters.values_at(*SOCKET_PARAMETERS).compact.find { |value| value.start_with?("/") }
        return path unless path && parameters["host"] == path

        File.join(path, ".s.PGSQL.#{uri.port || parameters.fetch("port", port)}")
      end
      private_class_method :uri_of, :socket_of
    end
  end
end
