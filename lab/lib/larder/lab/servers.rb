# frozen_string_literal: true

# The list of servers that the lab can start. A new one is one file in servers/ and one line at the end of this file.

require "larder/cli/registry"

module Larder
  module Lab
    # The servers that contenders talk to, by name.
    module Servers
      extend CLI::Registry
      holds "server"
    end
  end
end

require_relative "server"
require_relative "servers/redis"
require_relative "servers/redis_loopback"
require_relative "servers/valkey"
require_relative "servers/memcached"
require_relative "servers/dicedb"
require_relative "servers/dragonfly"
require_relative "servers/postgresql"
require_relative "servers/postgresql_tuned"
require_relative "servers/mariadb"
require_relative "servers/mariadb_query_cache"
