# frozen_string_literal: true

# The list of contenders. A new one is one file in contenders/ and one line at the end of this file.

require "larder/cli/registry"

module Larder
  module Lab
    # The stores that can take part, by the names users type.
    module Contenders
      extend CLI::Registry
      holds "contender"

      # @param name [String]
      # @return [Class]
      def self.fetch(name)
        name == Floor.key ? Floor : super
      end
    end
  end
end

require_relative "contender"
require_relative "contenders/larder_store"
require_relative "contenders/larder_tmpfs_store"
require_relative "contenders/memory_store"
require_relative "contenders/file_store"
require_relative "contenders/null_store"
require_relative "contenders/floor"
require_relative "contenders/solid_cache_store"
require_relative "contenders/solid_cache_postgresql_store"
require_relative "contenders/solid_cache_postgresql_tuned_store"
require_relative "contenders/solid_cache_mariadb_store"
require_relative "contenders/litecache_store"
require_relative "contenders/redis_store"
require_relative "contenders/redis_loopback_store"
require_relative "contenders/redis_hiredis_store"
require_relative "contenders/valkey_store"
require_relative "contenders/dicedb_store"
require_relative "contenders/dragonfly_store"
require_relative "contenders/memcached_store"
require_relative "contenders/memcached_meta_store"
