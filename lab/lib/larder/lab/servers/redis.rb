# frozen_string_literal: true

module Larder
  module Lab
    module Servers
      # redis-server as a cache: no persistence, a memory limit with eviction, as the Rails guide recommends.
      class Redis < Server
        named "redis", "Redis", binary: "redis-server",
                                from: "install it (Debian: apt-get install redis-server)"

        def arguments
          listen = port ? ["--port", port.to_s] : ["--port", "0", "--unixsocket", socket, "--unixsocketperm", "700"]
          [*listen, "--bind", HOST, "--dir", dir, "--daemonize", "no", "--save", "", "--appendonly", "no",
           "--maxmemory", "#{megabytes}mb", "--maxmemory-policy", "allkeys-lru"]
        end

        private

        def url_by_socket = "unix://#{socket}"

        def url_by_port(host, port) = "redis://#{host}:#{port}/0"

        def answers? = ask("PING\r\n").to_s.start_with?("+PONG")
      end

      # redis-server on a port of the loopback interface instead of a Unix socket.
      class RedisLoopback < Redis
        named "redis-loopback", "Redis, over TCP"

        def initialize(dir, **)
          super
          @port ||= free_port
        end
      end

      # valkey-server, configured as Redis is.
      class Valkey < Redis
        named "valkey", "Valkey", binary: "valkey-server", from: "install it (Debian: bin/servers)"
      end

      # DiceDB, configured as Redis is: since its second version it is a fork of Valkey.
      class Dicedb < Redis
        named "dicedb", "DiceDB", binary: "dicedb", from: "put its program there (https://github.com/DiceDB/dicedb)"
      end

      # Dragonfly as a cache: no snapshots, the memory limit and eviction of the others. A thread of Dragonfly wants
      # 256 MB for itself, which is what stores get, so there is one.
      class Dragonfly < Redis
        named "dragonfly", "Dragonfly",
              binary: "dragonfly",
              from: "put its program there (https://www.dragonflydb.io/docs/getting-started/binary)"

        def arguments
          listen = port ? ["--port=#{port}"] : ["--port=0", "--unixsocket=#{socket}", "--unixsocketperm=700"]
          [*listen, "--bind=#{HOST}", "--dir=#{dir}", "--dbfilename=", "--maxmemory=#{megabytes}mb",
           "--cache_mode=true", "--proactor_threads=1", "--logtostderr"]
        end
      end
    end
  end
end
