# frozen_string_literal: true

require_relative "redis"

module Larder
  module Lab
    module Servers
      # redis-server on a port of the loopback interface instead of a Unix socket.
      class RedisLoopback < Redis
        named "redis-loopback", "Redis, over TCP", binary: "redis-server", port: 6379,
                                remedy: "install it (Debian: apt-get install redis-server) or pass --redis-loopback-url"

        # @param dir [String] an empty directory of its own
        def initialize(dir, **)
          super
          @port ||= free_port
        end
      end
    end
  end
end
