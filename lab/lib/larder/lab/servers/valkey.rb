# frozen_string_literal: true

require_relative "redis"

module Larder
  module Lab
    module Servers
      # valkey-server, configured as Redis is.
      class Valkey < Redis
        named "valkey", binary: "valkey-server", port: 6379,
                        remedy: "install it (Debian 13: apt-get install valkey-server) or pass --valkey-url"
      end
    end
  end
end
