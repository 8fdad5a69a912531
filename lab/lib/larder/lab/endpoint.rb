# frozen_string_literal: true

# Owns what a contender is told about its server, and how such a description is made of a URL. Connects to nothing.

require "uri"

module Larder
  module Lab
    # Where a server listens: "url" for clients; "socket" (a path), or "host" and "port", for whoever stands between;
    # "private": whether the lab started it and may empty it; "pid" of a private one; "namespace" in use of one that is
    # not, so that several processes share it; "joined": whether another process has made ready what is kept there.
    module Endpoint
      # Parameters of a URL that name a Unix socket, or the directory of one.
      SOCKET_PARAMETERS = %w[socket host].freeze

      module_function

      # @param url [String] for clients
      # @param socket [String, nil] path of a Unix socket
      # @param host [String, nil]
      # @param port [Integer, nil]
      # @param private [Boolean] whether the lab started it
      # @param pid [Integer, nil]
      # @return [Hash{String=>Object}]
      def build(url:, socket: nil, host: nil, port: nil, private: false, pid: nil)
        { "url" => url, "socket" => socket, "host" => host, "port" => port, "private" => private, "pid" => pid }
      end

      # @param url [String] of a running server, as its client takes it: scheme://host:port/..., host:port, or a path
      # @param port [Integer] the usual one of such servers
      # @return [Hash{String=>Object}]
      def given(url, port:)
        path = url.delete_prefix("unix://")
        return build(url: url, socket: path) if path.start_with?("/")

        uri = URI.parse(url.include?("://") ? url : "any://#{url}")
        socket = socket_of(uri, port)
        return build(url: url, socket: socket) if socket

        build(url: url, host: uri.host || "localhost", port: uri.port || port)
      rescue URI::Error
        build(url: url)
      end

      # libpq takes the directory of a socket for a host.
      def socket_of(uri, port)
        parameters = URI.decode_www_form(uri.query.to_s).to_h
        path = parameters.values_at(*SOCKET_PARAMETERS).compact.find { |value| value.start_with?("/") }
        return path unless path && parameters["host"] == path

        File.join(path, ".s.PGSQL.#{uri.port || parameters.fetch("port", port)}")
      end
      private_class_method :socket_of
    end
  end
end
