# frozen_string_literal: true

module Larder
  module Lab
    module Servers
      # redis-server as a cache: no persistence, a memory limit with eviction, as the Rails guide recommends.
      class Redis < Server
        named "redis", "Redis", binary: "redis-server", port: 6379,
                       remedy: "install it (Debian: apt-get install redis-server) or pass --redis-url"

        # @return [Array<String>]
        def arguments
          listen = port ? ["--port", port.to_s] : ["--port", "0", "--unixsocket", socket, "--unixsocketperm", "700"]
          [*listen, "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no", "--save", "", "--appendonly", "no",
           "--maxmemory", "#{megabytes}mb", "--maxmemory-policy", "allkeys-lru"]
        end

        private

        def url_by_socket
          "unix://#{socket}"
        end

        def url_by_port(host, port)
          "redis://#{host}:#{port}/0"
        end

        def answers?
          ask("PING\r\n").to_s.start_with?("+PONG")
        end
      end
    end
  end
end
