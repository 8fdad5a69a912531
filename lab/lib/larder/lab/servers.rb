# frozen_string_literal: true

# The list of servers that the lab can start. A new one is a class in servers/.

require "larder/cli/registry"

module Larder
  module Lab
    # The servers that contenders talk to, by name.
    # @api private
    module Servers
      extend CLI::Registry
      holds "server"
    end
  end
end

require_relative "server"
require_relative "servers/redis"
require_relative "servers/memcached"
require_relative "servers/postgresql"
require_relative "servers/mariadb"
