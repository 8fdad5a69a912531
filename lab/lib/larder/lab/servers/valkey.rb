# frozen_string_literal: true

require_relative "redis"

module Larder
  module Lab
    module Servers
      # valkey-server, configured as Redis is.
      class Valkey < Redis
        named "valkey", "Valkey", binary: "valkey-server", port: 6379,
                        remedy: "install it (Debian: bin/servers) or pass --valkey-url"
      end
    end
  end
end
